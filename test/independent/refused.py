"""The one exception of the second verifier."""


class Refused(Exception):
    """The certificate does not hold, and why."""

    def __init__(self, code, text):
        super().__init__("%s: %s" % (code, text))
        self.code = code


def require(condition, code, text):
    if not condition:
        raise Refused(code, text)
