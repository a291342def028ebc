"""What travels between the server and its clients: our values as JSON and back, answers, and errors as problems.

`values` writes and reads any frozen value of ours by its type hints, and says as a JSON schema what it looks like;
`answers` does so for a `Recall`, which is more than a value; `problems` turns errors into RFC 9457 problem details and
back into the same class. Server and client share this, so that neither can drift from the other.
"""
