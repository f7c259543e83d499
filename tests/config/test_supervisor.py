from apps.config.supervisor import Supervisor


def test_a_failing_helper_does_not_stop_others_from_being_restarted(caplog) -> None:
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        supervisor.is_stopping = len(said) == 2

    def fail() -> None:
        raise RuntimeError("database is locked")

    supervisor = Supervisor(say=say)
    supervisor.start("worker", lambda: None, after_death=fail)

    supervisor.watch()

    supervisor.stop()
    assert said == ["The worker ended and is started again."] * 2
    assert {record.getMessage() for record in caplog.records} == {
        "The clean-up after the end of the worker failed. It is restarted all the same."
    }
