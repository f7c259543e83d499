"""Why an answer of the provider is not believed, and what went wrong when there was none."""


class AnswerRefused(Exception):
    """An answer of the provider, or of somebody who poses as it, that failed a check. `code` names the check.

    Nothing in it is shown: whoever sent the answer may have chosen its words.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ProviderUnavailable(Exception):
    """The provider did not answer, or not with what the standard asks for. The message is a sentence for the log."""
