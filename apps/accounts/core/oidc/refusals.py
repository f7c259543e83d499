"""Why an answer of the provider is not believed, and what went wrong when there was none."""


class AnswerRefused(Exception):
    """An answer of the provider, or of somebody who poses as it, that failed a check. `code` names the check.

    Nothing in it is shown: whoever sent the answer may have chosen its words. `error` is a code of the standards by
    which a provider says why it lets nobody in, one of `ERRORS`, or "".
    """

    def __init__(self, code: str, error: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.error = error if error in ERRORS else ""


_SET_UP = "{name} does not accept how Karat is set up there. Tell whoever runs Karat: “{error}”."
_AGAIN = "{name} wants you to sign in or agree there first. Begin again."
_FAULT = "{name} has a fault or is overloaded, and let nobody in. Try again in a minute."
ERRORS = {
    "access_denied": "{name} did not let you in: you said no there, or it does. Begin again, or ask whoever runs it.",
    "server_error": _FAULT,
    "temporarily_unavailable": _FAULT,
    **dict.fromkeys(
        ["login_required", "interaction_required", "account_selection_required", "consent_required"], _AGAIN
    ),
    **dict.fromkeys(
        [
            "invalid_request",
            "unauthorized_client",
            "unsupported_response_type",
            "invalid_scope",
            "invalid_request_uri",
            "invalid_request_object",
            "request_not_supported",
            "request_uri_not_supported",
            "registration_not_supported",
        ],
        _SET_UP,
    ),
}
"""The errors of RFC 6749 (4.1.2.1) and OpenID Connect Core 1.0 (3.1.2.6), each in words of ours."""


class ProviderUnavailable(Exception):
    """The provider did not answer, or not with what the standard asks for. The message is a sentence for the log."""
