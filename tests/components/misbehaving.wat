;; A handler whose behaviour the request chooses by the first letter of its path:
;;
;;   /a...  answers, with status 200 + how many requests this instance answered before
;;   /b...  answers with a body without end
;;   /c...  calls the host without end
;;   /e...  writes to standard error without end
;;   /f...  adds header fields without end
;;   /g...  gives the host a list of strings that all lie in the same place, so that together they are more than the memory
;;   /h...  takes handles without end
;;   /l...  loops without end
;;   /m...  grows its memory without end
;;   /n...  returns without an answer, having given back the place for it
;;   /p...  puts entries into its store without end
;;   /r...  asks for 64 KiB of random bytes and one more
;;   /s...  returns without an answer, and keeps the place for it
;;   /u...  writes a body without end to an answer that it never gives
;;   /w...  waits without end
;;   other  traps
(component
  (import "wasi:io/error@0.2.12" (instance $io-error
    (export "error" (type $error (sub resource)))))
  (alias export $io-error "error" (type $io-error-type))
  (import "wasi:io/streams@0.2.12" (instance $streams
    (alias outer 1 $io-error-type (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (export "output-stream" (type $output-stream (sub resource)))
    (type $failure (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $failure)))
    (export "[method]output-stream.blocking-write-and-flush" (func
      (param "self" (borrow $output-stream)) (param "contents" (list u8))
      (result (result (error $stream-error)))))))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stderr@0.2.12" (instance $stderr
    (alias outer 1 $output-stream (type $outer-output-stream))
    (export "output-stream" (type $output-stream (eq $outer-output-stream)))
    (export "get-stderr" (func (result (own $output-stream))))))
  (import "wasi:random/random@0.2.12" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (import "gatehouse:storage/key-value@0.1.0" (instance $store
    (type $held (record (field "value" (list u8)) (field "version" u64)))
    (export "entry" (type $entry (eq $held)))
    (type $why (variant
      (case "sealed") (case "unavailable" string) (case "corrupt" string) (case "invalid" string)))
    (export "error" (type $error (eq $why)))
    (type $demand (variant (case "absent") (case "at-version" u64)))
    (export "requirement" (type $requirement (eq $demand)))
    (type $test (record (field "key" string) (field "requirement" $requirement)))
    (export "check" (type $check (eq $test)))
    (type $new (record (field "key" string) (field "value" (list u8)) (field "expires-at" (option u64))))
    (export "put" (type $put (eq $new)))
    (type $effect (variant (case "put" $put) (case "delete" string)))
    (export "change" (type $change (eq $effect)))
    (type $refusal (variant (case "conflict" string) (case "failed" $error)))
    (export "commit-error" (type $commit-error (eq $refusal)))
    (export "get" (func
      (param "keys" (list string)) (result (result (list (option $entry)) (error $error)))))
    (export "commit" (func
      (param "checks" (list $check)) (param "changes" (list $change))
      (result (result (error $commit-error)))))))
  (import "wasi:http/types@0.2.12" (instance $http
    (alias outer 1 $output-stream (type $outer-output-stream))
    (export "output-stream" (type $output-stream (eq $outer-output-stream)))
    (export "fields" (type $fields (sub resource)))
    (export "incoming-request" (type $incoming-request (sub resource)))
    (export "outgoing-body" (type $outgoing-body (sub resource)))
    (export "outgoing-response" (type $outgoing-response (sub resource)))
    (export "response-outparam" (type $response-outparam (sub resource)))
    (type $dns-error (record (field "rcode" (option string)) (field "info-code" (option u16))))
    (export "DNS-error-payload" (type $dns-error-payload (eq $dns-error)))
    (type $tls-alert (record (field "alert-id" (option u8)) (field "alert-message" (option string))))
    (export "TLS-alert-received-payload" (type $tls-alert-received-payload (eq $tls-alert)))
    (type $field-size (record (field "field-name" (option string)) (field "field-size" (option u32))))
    (export "field-size-payload" (type $field-size-payload (eq $field-size)))
    (type $error (variant
      (case "DNS-timeout")
      (case "DNS-error" $dns-error-payload)
      (case "destination-not-found")
      (case "destination-unavailable")
      (case "destination-IP-prohibited")
      (case "destination-IP-unroutable")
      (case "connection-refused")
      (case "connection-terminated")
      (case "connection-timeout")
      (case "connection-read-timeout")
      (case "connection-write-timeout")
      (case "connection-limit-reached")
      (case "TLS-protocol-error")
      (case "TLS-certificate-error")
      (case "TLS-alert-received" $tls-alert-received-payload)
      (case "HTTP-request-denied")
      (case "HTTP-request-length-required")
      (case "HTTP-request-body-size" (option u64))
      (case "HTTP-request-method-invalid")
      (case "HTTP-request-URI-invalid")
      (case "HTTP-request-URI-too-long")
      (case "HTTP-request-header-section-size" (option u32))
      (case "HTTP-request-header-size" (option $field-size-payload))
      (case "HTTP-request-trailer-section-size" (option u32))
      (case "HTTP-request-trailer-size" $field-size-payload)
      (case "HTTP-response-incomplete")
      (case "HTTP-response-header-section-size" (option u32))
      (case "HTTP-response-header-size" $field-size-payload)
      (case "HTTP-response-body-size" (option u64))
      (case "HTTP-response-trailer-section-size" (option u32))
      (case "HTTP-response-trailer-size" $field-size-payload)
      (case "HTTP-response-transfer-coding" (option string))
      (case "HTTP-response-content-coding" (option string))
      (case "HTTP-response-timeout")
      (case "HTTP-upgrade-failed")
      (case "HTTP-protocol-error")
      (case "loop-detected")
      (case "configuration-error")
      (case "internal-error" (option string))))
    (export "error-code" (type $error-code (eq $error)))
    (export "[method]incoming-request.path-with-query" (func
      (param "self" (borrow $incoming-request)) (result (option string))))
    (type $bad-header (variant (case "invalid-syntax") (case "forbidden") (case "immutable")))
    (export "header-error" (type $header-error (eq $bad-header)))
    (export "[constructor]fields" (func (result (own $fields))))
    (export "[method]fields.append" (func
      (param "self" (borrow $fields)) (param "name" string) (param "value" (list u8))
      (result (result (error $header-error)))))
    (export "[constructor]outgoing-response" (func
      (param "headers" (own $fields)) (result (own $outgoing-response))))
    (export "[method]outgoing-response.set-status-code" (func
      (param "self" (borrow $outgoing-response)) (param "status-code" u16) (result (result))))
    (export "[method]outgoing-response.body" (func
      (param "self" (borrow $outgoing-response)) (result (result (own $outgoing-body)))))
    (export "[method]outgoing-body.write" (func
      (param "self" (borrow $outgoing-body)) (result (result (own $output-stream)))))
    (export "[static]response-outparam.set" (func
      (param "param" (own $response-outparam))
      (param "response" (result (own $outgoing-response) (error $error-code)))))))
  (import "wasi:io/poll@0.2.12" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.12" (instance $clock
    (alias outer 1 $pollable (type $outer-pollable))
    (export "pollable" (type $pollable (eq $outer-pollable)))
    (export "now" (func (result u64)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (alias export $http "incoming-request" (type $incoming-request))
  (alias export $http "response-outparam" (type $response-outparam))

  ;; The host allocates one thing for a call, the path of a request or what an answer of its own holds, and always here.
  (core module $memory
    (memory (export "memory") 3)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
  (core instance $memory (instantiate $memory))

  (core func $path (canon lower (func $http "[method]incoming-request.path-with-query")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $fields (canon lower (func $http "[constructor]fields")))
  (core func $response (canon lower (func $http "[constructor]outgoing-response")))
  (core func $set-status (canon lower (func $http "[method]outgoing-response.set-status-code")))
  (core func $answer (canon lower (func $http "[static]response-outparam.set")
    (memory (core memory $memory "memory"))))
  (core func $append (canon lower (func $http "[method]fields.append") (memory (core memory $memory "memory"))))
  (core func $body (canon lower (func $http "[method]outgoing-response.body")
    (memory (core memory $memory "memory"))))
  (core func $stream (canon lower (func $http "[method]outgoing-body.write")
    (memory (core memory $memory "memory"))))
  (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
    (memory (core memory $memory "memory"))))
  (core func $stderr (canon lower (func $stderr "get-stderr")))
  (core func $random (canon lower (func $random "get-random-bytes")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $get (canon lower (func $store "get")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $commit (canon lower (func $store "commit")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $drop-request (canon resource.drop $incoming-request))
  (core func $drop-place (canon resource.drop $response-outparam))
  (core func $now (canon lower (func $clock "now")))
  (core func $after (canon lower (func $clock "subscribe-duration")))
  (core func $block (canon lower (func $poll "[method]pollable.block")))

  (core module $handler
    (import "memory" "memory" (memory 3))
    (import "host" "path" (func $path (param i32 i32)))
    (import "host" "fields" (func $fields (result i32)))
    (import "host" "response" (func $response (param i32) (result i32)))
    (import "host" "set-status" (func $set-status (param i32 i32) (result i32)))
    (import "host" "answer" (func $answer (param i32 i32 i32 i32 i64 i32 i32 i32 i32)))
    (import "host" "drop-request" (func $drop-request (param i32)))
    (import "host" "drop-place" (func $drop-place (param i32)))
    (import "host" "now" (func $now (result i64)))
    (import "host" "after" (func $after (param i64) (result i32)))
    (import "host" "block" (func $block (param i32)))
    (import "host" "append" (func $append (param i32 i32 i32 i32 i32 i32)))
    (import "host" "body" (func $body (param i32 i32)))
    (import "host" "stream" (func $stream (param i32 i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (import "host" "stderr" (func $stderr (result i32)))
    (import "host" "random" (func $random (param i64 i32)))
    (import "host" "get" (func $get (param i32 i32 i32)))
    (import "host" "commit" (func $commit (param i32 i32 i32 i32 i32)))
    (global $answered (mut i32) (i32.const 0))

    (func (export "handle") (param $request i32) (param $place i32)
      (local $letter i32)
      (call $path (local.get $request) (i32.const 0))
      (call $drop-request (local.get $request))
      (local.set $letter (i32.load8_u (i32.const 1025)))
      (if (i32.eq (local.get $letter) (i32.const 0x61)) ;; a
        (then (call $answer-with-status (local.get $place)) (return)))
      (if (i32.eq (local.get $letter) (i32.const 0x62)) ;; b
        (then (call $write-body (local.get $place))))
      (if (i32.eq (local.get $letter) (i32.const 0x63)) ;; c
        (then (loop (drop (call $now)) (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x65)) ;; e
        (then (call $write-without-end (call $stderr))))
      (if (i32.eq (local.get $letter) (i32.const 0x66)) ;; f
        (then (call $add-fields (call $fields))))
      (if (i32.eq (local.get $letter) (i32.const 0x67)) ;; g
        (then (call $give-overlapping)))
      (if (i32.eq (local.get $letter) (i32.const 0x68)) ;; h
        (then (loop (drop (call $fields)) (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x6c)) ;; l
        (then (loop (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x6d)) ;; m
        (then (loop (drop (memory.grow (i32.const 1))) (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x6e)) ;; n
        (then (call $drop-place (local.get $place)) (return)))
      (if (i32.eq (local.get $letter) (i32.const 0x70)) ;; p
        (then (call $put-without-end)))
      (if (i32.eq (local.get $letter) (i32.const 0x72)) ;; r
        (then (call $random (i64.const 65537) (i32.const 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x73)) ;; s
        (then (return)))
      (if (i32.eq (local.get $letter) (i32.const 0x75)) ;; u
        (then (call $write-without-end (call $stream-of (call $response (call $fields))))))
      (if (i32.eq (local.get $letter) (i32.const 0x77)) ;; w
        (then (loop (call $block (call $after (i64.const 0x7fff_ffff_ffff_ffff))) (br 0))))
      unreachable)

    ;; What is written: 4096 bytes from 65536 on, as much as one call may write.
    (func $write-without-end (param $stream i32)
      (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const 4096))
      (loop
        (call $write (local.get $stream) (i32.const 65536) (i32.const 4096) (i32.const 0))
        (br 0)))

    ;; The stream of the body of a response. What the host answers is at 0: the case, and from 4 on what it holds.
    (func $stream-of (param $response i32) (result i32)
      (call $body (local.get $response) (i32.const 0))
      (call $stream (i32.load (i32.const 4)) (i32.const 0))
      (i32.load (i32.const 4)))

    (func $write-body (param $place i32)
      (local $response i32) (local $stream i32)
      (local.set $response (call $response (call $fields)))
      (local.set $stream (call $stream-of (local.get $response)))
      (call $answer
        (local.get $place)
        (i32.const 0) (local.get $response)
        (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
      (call $write-without-end (local.get $stream)))

    ;; The field `aa` with a value of 1024 bytes, again and again.
    (func $add-fields (param $to i32)
      (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const 1024))
      (loop
        (call $append
          (local.get $to)
          (i32.const 65536) (i32.const 2) (i32.const 65536) (i32.const 1024) (i32.const 0))
        (br 0)))

    ;; 128 times the same 64 KiB: from 131072 on the list, from 65536 on the string.
    (func $give-overlapping
      (local $at i32)
      (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const 65536))
      (local.set $at (i32.const 131072))
      (loop
        (i32.store (local.get $at) (i32.const 65536))
        (i32.store offset=4 (local.get $at) (i32.const 65536))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if 0 (i32.lt_u (local.get $at) (i32.const 132096))))
      (call $get (i32.const 131072) (i32.const 128) (i32.const 0)))

    ;; A commit of one put after the other, each of 1024 bytes under a key of its own: eight letters, which count.
    (func $put-without-end
      (local $count i32) (local $digit i32)
      (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const 1024))
      (i32.store offset=8 (i32.const 4096) (i32.const 8192))
      (i32.store offset=12 (i32.const 4096) (i32.const 8))
      (i32.store offset=16 (i32.const 4096) (i32.const 65536))
      (i32.store offset=20 (i32.const 4096) (i32.const 1024))
      (loop
        (local.set $digit (i32.const 0))
        (loop
          (i32.store8
            (i32.add (i32.const 8192) (local.get $digit))
            (i32.add (i32.const 0x61) (i32.and (i32.const 15)
              (i32.shr_u (local.get $count) (i32.mul (i32.const 4) (local.get $digit))))))
          (local.set $digit (i32.add (local.get $digit) (i32.const 1)))
          (br_if 0 (i32.lt_u (local.get $digit) (i32.const 8))))
        (call $commit (i32.const 0) (i32.const 0) (i32.const 4096) (i32.const 1) (i32.const 0))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (br 0)))

    (func $answer-with-status (param $place i32)
      (local $response i32)
      (local.set $response (call $response (call $fields)))
      (drop (call $set-status
        (local.get $response)
        (i32.add (i32.const 200) (global.get $answered))))
      (global.set $answered (i32.add (global.get $answered) (i32.const 1)))
      (call $answer
        (local.get $place)
        (i32.const 0) (local.get $response) ;; the case `ok`, and what it holds
        (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))))
  (core instance $handler (instantiate $handler
    (with "memory" (instance $memory))
    (with "host" (instance
      (export "path" (func $path))
      (export "fields" (func $fields))
      (export "response" (func $response))
      (export "set-status" (func $set-status))
      (export "answer" (func $answer))
      (export "drop-request" (func $drop-request))
      (export "drop-place" (func $drop-place))
      (export "now" (func $now))
      (export "after" (func $after))
      (export "block" (func $block))
      (export "append" (func $append))
      (export "body" (func $body))
      (export "stream" (func $stream))
      (export "write" (func $write))
      (export "stderr" (func $stderr))
      (export "random" (func $random))
      (export "get" (func $get))
      (export "commit" (func $commit))))))

  (func $handle (param "request" (own $incoming-request)) (param "response-out" (own $response-outparam))
    (canon lift (core func $handler "handle")))
  (instance $exported (export "handle" (func $handle)))
  (export "wasi:http/incoming-handler@0.2.12" (instance $exported)))
