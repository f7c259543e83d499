"""Texts as a technical corpus has them: Markdown with code, tables and links, plain text with lines, pieces of both."""

RETRIES = """# Retries in `karat-client`

The client retries a request **three times** before it gives up. See the
[retry guide](https://docs.example.org/guide/retries?v=2#backoff "Guide") and `Client.send()`.

```python
from karat_client import Client

client = Client(retries=3, backoff="exponential")


def fetch(query: str) -> list[str]:
    \"\"\"Ask once, wait, ask again.\"\"\"
    for attempt in range(client.retries):
        if (answer := client.send(query, timeout=2 ** attempt)) is not None:
            return answer.results
    raise TimeoutError(f"no answer to {query!r} after {client.retries} attempts, the last one took too long")
```

Set `backoff` in *one* place only:

1. in the environment, as `KARAT_BACKOFF`;
2. in the file, under `[client]`:
   - `exponential` waits 1, 2, 4 s,
   - `fixed` waits the same time
     again and again;
3. in the call itself.

| Setting | Default | Meaning |
| --- | ---: | --- |
| `retries` | 3 | how often a request is sent again |
| `backoff` | `exponential` | `fixed` or `exponential` |
| `timeout` | 30 | seconds, then `TimeoutError` |

> **Note** Retries are counted by request,
> not by connection.

## What the server logs

    2026-03-01 12:00:01 WARN  retry 1 of 3 for GET /v1/blocks
    2026-03-01 12:00:03 WARN  retry 2 of 3 for GET /v1/blocks

Write `<b>bold</b>` as text: <b>never</b> obeyed, nor is <script>alert(1)</script>.
"""

INCIDENT = """Incident 4711

Reported by: Mara Voss
Host:        db-3.eu-west
Status:      closed

The connection pool ran empty because every worker held its connection while it
waited for the lock of another one. The workers were restarted one after the
other, and the pool was made larger than the number of workers.

Traceback (most recent call last):
  File "/srv/app/pool.py", line 88, in take
    raise PoolEmpty(self.size)
app.errors.PoolEmpty: no connection of 20 became free within 30 s

Steps taken:
- restarted worker 3
- set max_connections=200
"""

CUT = """    def close(self):
        self._pool.clear()
        self._closed = True
```

After `close()` every call raises `ClosedError`.
Open a new client instead; it costs no more than a few milliseconds on any machine that we have measured so far.
"""

HOSTILE = """[click](javascript:alert(1)) <img src=x onerror=alert(1)>
![x](data:text/html,<script>alert(1)</script> "t\\" onmouseover=alert(1)")

```"><script>alert(1)</script>
</pre><script>alert(1)</script>
```

| <td onclick=alert(1)> | `</td>` |
|---|---|
| "><svg onload=alert(1)> | [a]("onfocus=alert(1)/x) |
"""

TEXTS = {"retries": RETRIES, "incident": INCIDENT, "cut": CUT, "hostile": HOSTILE}
