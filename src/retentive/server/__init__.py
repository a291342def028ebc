"""Retentive as a service: the façade over HTTP, behind keys, with metrics, limits and a worker beside it.

Nothing of ranking lives here. `app.application` returns the ASGI application, with room for other applications under
their own paths; `access` has who may do what, for those as well; `run.serve` runs it all. Needs the extra ``server``.
"""
