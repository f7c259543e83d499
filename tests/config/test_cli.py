"""The front door of the command line: what is answered without Django, and what is refused."""

from django.conf import settings

from apps.config.cli import FAULT, OK, main


def test_the_version_is_told_and_is_that_of_the_settings(capsys):
    assert main(["--version"]) == OK
    assert capsys.readouterr().out == f"karat {settings.VERSION}\n"


def test_a_word_that_is_no_command_is_refused_with_the_way_to_the_list(capsys):
    assert main(["frobnicate"]) == FAULT
    assert capsys.readouterr().err == "There is no command `karat frobnicate`; `karat --help` lists all.\n"


def test_import_alone_says_what_can_be_imported(capsys):
    assert main(["import"]) == FAULT
    assert "add one of corpus, queries, judgements, run" in capsys.readouterr().err


def test_no_words_at_all_give_the_overview_and_the_code_of_a_mistake(capsys):
    assert main([]) == FAULT
    assert "karat COMMAND --help" in capsys.readouterr().out
