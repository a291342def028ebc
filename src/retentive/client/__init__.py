"""The same API over HTTP: `Retentive("http://…", key=…)` is a `RemoteRetentive`, its spaces are `RemoteSpace`s.

`transport` moves requests and tries again where that is safe, `sending` turns arguments into JSON, `home` and `space`
are the two classes users meet. Nothing but the standard library is needed.
"""
