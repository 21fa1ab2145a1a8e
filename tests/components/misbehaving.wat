;; A handler whose behaviour the request chooses by the first letter of its path:
;;
;;   /a...  answers, with status 200 + how many requests this instance answered before
;;   /c...  calls the host without end
;;   /h...  takes handles without end
;;   /l...  loops without end
;;   /m...  grows its memory without end
;;   /n...  returns without an answer, having given back the place for it
;;   /s...  returns without an answer, and keeps the place for it
;;   /w...  waits without end
;;   other  traps
(component
  (import "wasi:http/types@0.2.12" (instance $http
    (export "fields" (type $fields (sub resource)))
    (export "incoming-request" (type $incoming-request (sub resource)))
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
    (export "[constructor]fields" (func (result (own $fields))))
    (export "[constructor]outgoing-response" (func
      (param "headers" (own $fields)) (result (own $outgoing-response))))
    (export "[method]outgoing-response.set-status-code" (func
      (param "self" (borrow $outgoing-response)) (param "status-code" u16) (result (result))))
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

  ;; The host allocates one thing for a request, its path, and always here.
  (core module $memory
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
  (core instance $memory (instantiate $memory))

  (core func $path (canon lower (func $http "[method]incoming-request.path-with-query")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $fields (canon lower (func $http "[constructor]fields")))
  (core func $response (canon lower (func $http "[constructor]outgoing-response")))
  (core func $set-status (canon lower (func $http "[method]outgoing-response.set-status-code")))
  (core func $answer (canon lower (func $http "[static]response-outparam.set")
    (memory (core memory $memory "memory"))))
  (core func $drop-request (canon resource.drop $incoming-request))
  (core func $drop-place (canon resource.drop $response-outparam))
  (core func $now (canon lower (func $clock "now")))
  (core func $after (canon lower (func $clock "subscribe-duration")))
  (core func $block (canon lower (func $poll "[method]pollable.block")))

  (core module $handler
    (import "memory" "memory" (memory 1))
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
    (global $answered (mut i32) (i32.const 0))

    (func (export "handle") (param $request i32) (param $place i32)
      (local $letter i32)
      (call $path (local.get $request) (i32.const 0))
      (call $drop-request (local.get $request))
      (local.set $letter (i32.load8_u (i32.const 1025)))
      (if (i32.eq (local.get $letter) (i32.const 0x61)) ;; a
        (then (call $answer-with-status (local.get $place)) (return)))
      (if (i32.eq (local.get $letter) (i32.const 0x63)) ;; c
        (then (loop (drop (call $now)) (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x68)) ;; h
        (then (loop (drop (call $fields)) (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x6c)) ;; l
        (then (loop (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x6d)) ;; m
        (then (loop (drop (memory.grow (i32.const 1))) (br 0))))
      (if (i32.eq (local.get $letter) (i32.const 0x6e)) ;; n
        (then (call $drop-place (local.get $place)) (return)))
      (if (i32.eq (local.get $letter) (i32.const 0x73)) ;; s
        (then (return)))
      (if (i32.eq (local.get $letter) (i32.const 0x77)) ;; w
        (then (loop (call $block (call $after (i64.const 0x7fff_ffff_ffff_ffff))) (br 0))))
      unreachable)

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
      (export "block" (func $block))))))

  (func $handle (param "request" (own $incoming-request)) (param "response-out" (own $response-outparam))
    (canon lift (core func $handler "handle")))
  (instance $exported (export "handle" (func $handle)))
  (export "wasi:http/incoming-handler@0.2.12" (instance $exported)))
