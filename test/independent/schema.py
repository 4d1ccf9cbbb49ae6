"""As much of JSON Schema 2020-12 as docs/spec/certificate.schema.json uses; an unknown keyword is an error of ours."""
import json
import os
import re

from refused import require

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec")
SILENT = {"$schema", "$defs", "title", "description", "format", "default"}


def _is(value, name):
    if isinstance(name, list):
        return any(_is(value, one) for one in name)
    if name in ("integer", "number"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (name == "number" and isinstance(value, float))
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[name])


class Schema:
    def __init__(self, kind):
        """1 or 2, the version of a certificate, or "summary"."""
        name = {1: "certificate-1.schema.json", 2: "certificate.schema.json"}.get(kind, "summary.schema.json")
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            self.root = json.load(file)

    def check(self, value):
        problem = self._problem(self.root, value, "statement")
        require(problem is None, "MALFORMED", problem)

    def _problem(self, schema, value, where):
        """None, or what is wrong."""
        for keyword, wanted in schema.items():
            if keyword in SILENT or keyword in ("properties", "prefixItems"):
                continue
            problem = getattr(self, "_" + keyword.lstrip("$"))(schema, wanted, value, where)
            if problem is not None:
                return problem
        return self._inside(schema, value, where)

    def _inside(self, schema, value, where):
        if isinstance(value, dict):
            pairs = [(schema["properties"][name], name) for name in value if name in schema.get("properties", {})]
        else:
            pairs = list(zip(schema.get("prefixItems", []), range(len(value)))) if isinstance(value, list) else []
        problems = (self._problem(inner, value[name], "%s.%s" % (where, name)) for inner, name in pairs)
        return next((problem for problem in problems if problem is not None), None)

    def _ref(self, _schema, wanted, value, where):
        return self._problem(self.root["$defs"][wanted.split("/")[-1]], value, where)

    def _type(self, _schema, wanted, value, where):
        return None if _is(value, wanted) else "%s is no %s" % (where, wanted)

    def _const(self, _schema, wanted, value, where):
        return None if value == wanted else "%s is not as fixed" % where

    def _enum(self, _schema, wanted, value, where):
        return None if value in wanted else "%s is none of those allowed" % where

    def _pattern(self, _schema, wanted, value, where):
        fits = not isinstance(value, str) or re.search(re.sub(r"\$$", r"\\Z", wanted), value, re.ASCII)
        return None if fits else "%s has another form" % where

    def _maxLength(self, _schema, wanted, value, where):
        return "%s is too long" % where if isinstance(value, str) and len(value) > wanted else None

    def _minimum(self, _schema, wanted, value, where):
        return "%s is too small" % where if _is(value, "number") and value < wanted else None

    def _exclusiveMinimum(self, _schema, wanted, value, where):
        return "%s is too small" % where if _is(value, "number") and value <= wanted else None

    def _maximum(self, _schema, wanted, value, where):
        return "%s is too large" % where if _is(value, "number") and value > wanted else None

    def _minItems(self, _schema, wanted, value, where):
        return "%s has too few" % where if isinstance(value, list) and len(value) < wanted else None

    def _maxItems(self, _schema, wanted, value, where):
        return "%s has too many" % where if isinstance(value, list) and len(value) > wanted else None

    def _maxProperties(self, _schema, wanted, value, where):
        return "%s has too many" % where if isinstance(value, dict) and len(value) > wanted else None

    def _required(self, _schema, wanted, value, where):
        missing = [name for name in wanted if name not in value] if isinstance(value, dict) else []
        return "%s lacks %s" % (where, missing[0]) if missing else None

    def _additionalProperties(self, schema, wanted, value, where):
        extra = [name for name in value if name not in schema.get("properties", {})] if isinstance(value, dict) else []
        if wanted is False:
            return "%s has an unknown field" % where if extra else None
        problems = (self._problem(wanted, value[name], "%s.?" % where) for name in extra)
        return next((problem for problem in problems if problem is not None), None)

    def _propertyNames(self, _schema, wanted, value, where):
        problems = (self._problem(wanted, name, "a name in %s" % where) for name in value) if isinstance(value, dict) else ()
        return next((problem for problem in problems if problem is not None), None)

    def _items(self, schema, wanted, value, where):
        rest = value[len(schema.get("prefixItems", [])):] if isinstance(value, list) else []
        if wanted is False:
            return "%s has too many" % where if rest else None
        problems = (self._problem(wanted, item, "%s[]" % where) for item in rest)
        return next((problem for problem in problems if problem is not None), None)

    def _anyOf(self, _schema, wanted, value, where):
        problems = [self._problem(choice, value, where) for choice in wanted]
        return None if None in problems else problems[0]
