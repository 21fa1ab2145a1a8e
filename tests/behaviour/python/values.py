"""Values of WIT as plain Python, in the form that tests/behaviour/README.md gives them in JSON; bytes stay bytes.

wasmtime leaves the tag of a variant out where the types of its cases tell them apart. Here a tag is always there.
"""

from wasmtime import component as wit


class Handles:
    """Objects that a component has handles to."""

    def __init__(self):
        self._objects = {}
        self._last = 0

    def add(self, item):
        self._last += 1
        self._objects[self._last] = item
        return self._last

    def get(self, number):
        return self._objects[number]

    def forget(self, number):
        self._objects.pop(number, None)


# A handle's kind is told by a number that is the same for all names of one resource.
_KINDS = {}
_SAME_RESOURCE = {"headers": "fields", "trailers": "fields", "io-error": "error"}


def kind_of_resource(name):
    name = _SAME_RESOURCE.get(name, name)
    return _KINDS.setdefault(name, len(_KINDS))


def lift(kind, value, store, handles):
    """A value that came out of a component, as plain Python."""
    if isinstance(kind, wit.RecordType):
        return {name: lift(field, getattr(value, name), store, handles) for name, field in kind.fields}
    if isinstance(kind, wit.ListType):
        return value if isinstance(value, bytes) else [lift(kind.element, item, store, handles) for item in value]
    if isinstance(kind, wit.TupleType):
        return [lift(element, item, store, handles) for element, item in zip(kind.elements, value)]
    if isinstance(kind, (wit.VariantType, wit.OptionType, wit.ResultType)):
        tag, case, held = _case_of(_cases(kind), value)
        held = None if case is None else lift(case, held, store, handles)
        if isinstance(kind, wit.OptionType):
            return held
        if isinstance(kind, wit.ResultType):
            return {tag: held}
        return {"tag": tag} if case is None else {"tag": tag, "val": held}
    if isinstance(kind, (wit.OwnType, wit.BorrowType)):
        number = value.to_host(store).rep
        found = handles.get(number)
        if isinstance(kind, wit.OwnType):
            handles.forget(number)
        return found
    return value


def lower(kind, value, handles):
    """Plain Python, as wasmtime wants it for a component."""
    if isinstance(kind, wit.RecordType):
        record = wit.Record()
        for name, field in kind.fields:
            setattr(record, name, lower(field, value.get(name), handles))
        return record
    if isinstance(kind, wit.ListType):
        return value if isinstance(value, bytes) else [lower(kind.element, item, handles) for item in value]
    if isinstance(kind, wit.TupleType):
        return tuple(lower(element, item, handles) for element, item in zip(kind.elements, value))
    if isinstance(kind, wit.OptionType):
        tag, held = ("none", None) if value is None else ("some", value)
    elif isinstance(kind, wit.ResultType):
        ((tag, held),) = value.items()
    elif isinstance(kind, wit.VariantType):
        tag, held = value["tag"], value.get("val")
    elif isinstance(kind, wit.OwnType):
        return wit.ResourceHost.own(handles.add(value), kind_of_resource(value.RESOURCE))
    else:
        return value
    cases = _cases(kind)
    case = dict(cases)[tag]
    held = None if case is None else lower(case, held, handles)
    return wit.Variant(tag, held) if _is_tagged(cases) else held


def _cases(kind):
    if isinstance(kind, wit.OptionType):
        return [("none", None), ("some", kind.payload)]
    if isinstance(kind, wit.ResultType):
        return [("ok", kind.ok), ("err", kind.err)]
    return kind.cases


def _classes(case):
    found = set()
    if case is None:
        found.add(object)
    else:
        case.add_classes(found)
    return found


def _is_tagged(cases):
    """True if wasmtime writes the tag: it does where two cases share a class."""
    seen = set()
    for _, case in cases:
        classes = _classes(case)
        if classes & seen:
            return True
        seen |= classes
    return False


def _case_of(cases, value):
    if _is_tagged(cases):
        return value.tag, dict(cases)[value.tag], value.payload
    for tag, case in cases:
        # Among the classes, `object` stands for None.
        if type(value) in _classes(case) or (value is None and object in _classes(case)):
            return tag, case, value
    raise TypeError(f"{value!r} is none of {[tag for tag, _ in cases]}")
