"""`wasi:http/outgoing-handler` over Python's own `http.client`."""

import http.client

from wasi import InputStream, OutputStream, Pollable

# Seconds. Components bound a whole exchange themselves, but can do so only between calls.
_TIMEOUT = 10
# Bytes of an answer; more than components take of one.
_MAXIMUM_ANSWER = 2 << 20


class Fields:
    RESOURCE = "fields"

    def __init__(self, entries):
        self.entries = entries


class OutgoingRequest:
    RESOURCE = "outgoing-request"

    def __init__(self, headers):
        self.headers = headers
        self.method, self.scheme, self.authority, self.path = "GET", "https", "", "/"
        self.body = OutgoingBody()

    def set(self, name, value):
        setattr(self, name, value)
        return {"ok": None}

    def send(self):
        secure = self.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(self.authority, timeout=_TIMEOUT)
        try:
            headers = {name: value.decode("latin-1") for name, value in self.headers.entries}
            connection.request(self.method, self.path, bytes(self.body.data), headers)
            answer = connection.getresponse()
            data = answer.read(_MAXIMUM_ANSWER + 1)
            if len(data) > _MAXIMUM_ANSWER:
                raise http.client.HTTPException("the answer is too large")
            return IncomingResponse(answer.status, answer.getheaders(), data)
        finally:
            connection.close()


class OutgoingBody:
    RESOURCE = "outgoing-body"

    def __init__(self):
        self.data = bytearray()


class FutureIncomingResponse:
    RESOURCE = "future-incoming-response"

    def __init__(self, request):
        self._request = request

    def get(self):
        # Only now is the body of the request complete.
        try:
            return {"ok": {"ok": self._request.send()}}
        except TimeoutError:
            failure = {"tag": "HTTP-response-timeout"}
        except ConnectionRefusedError:
            failure = {"tag": "connection-refused"}
        except (OSError, http.client.HTTPException) as error:
            failure = {"tag": "internal-error", "val": type(error).__name__}
        return {"ok": {"err": failure}}


class IncomingResponse:
    RESOURCE = "incoming-response"

    def __init__(self, status, headers, data):
        self.status = status
        self.headers = Fields([(name, value.encode("latin-1")) for name, value in headers])
        self.data = data


class IncomingBody:
    RESOURCE = "incoming-body"

    def __init__(self, data):
        self.data = data


def functions(is_allowed):
    """Outgoing HTTP to the origins, such as `https://www.googleapis.com`, for which `is_allowed` says so."""

    def handle(request, _options):
        if not is_allowed(f"{request.scheme}://{request.authority}"):
            return {"err": {"tag": "HTTP-request-denied"}}
        return {"ok": FutureIncomingResponse(request)}

    def spelled(variant):
        return variant.get("val", variant["tag"])

    types = "wasi:http/types#"
    return {
        "wasi:http/outgoing-handler#handle": handle,
        types + "[constructor]outgoing-request": OutgoingRequest,
        types + "[method]outgoing-request.body": lambda request: {"ok": request.body},
        types + "[method]outgoing-request.set-method": lambda request, value: request.set("method", spelled(value).upper()),
        types + "[method]outgoing-request.set-scheme": lambda request, value: request.set("scheme", spelled(value).lower()),
        types + "[method]outgoing-request.set-authority": lambda request, value: request.set("authority", value),
        types + "[method]outgoing-request.set-path-with-query": lambda request, value: request.set("path", value),
        types + "[method]outgoing-body.write": lambda body: {"ok": OutputStream(body.data.extend)},
        types + "[static]outgoing-body.finish": lambda _body, _trailers: {"ok": None},
        types + "[static]fields.from-list": lambda entries: {"ok": Fields(entries)},
        types + "[method]fields.entries": lambda fields: fields.entries,
        types + "[method]future-incoming-response.subscribe": lambda _: Pollable(),
        types + "[method]future-incoming-response.get": FutureIncomingResponse.get,
        types + "[method]incoming-response.status": lambda response: response.status,
        types + "[method]incoming-response.headers": lambda response: response.headers,
        types + "[method]incoming-response.consume": lambda response: {"ok": IncomingBody(response.data)},
        types + "[method]incoming-body.stream": lambda body: {"ok": InputStream(body.data)},
        types + "http-error-code": lambda _error: None,
    }
