//! The Google Cloud auth method: who a caller is and under which role.
