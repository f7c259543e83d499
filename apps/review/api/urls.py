from django.urls import path

from apps.review.api import candidate_blocks, disputes, reviews

app_name = "review-api"
urlpatterns = [
    path("queue/", reviews.QueueView.as_view(), name="queue"),
    path("next/", reviews.NextView.as_view(), name="next"),
    path("pull/", reviews.PullView.as_view(), name="pull"),
    path("board/", reviews.BoardView.as_view(), name="board"),
    path("candidates/", candidate_blocks.CandidateList.as_view(), name="candidates"),
    path("candidates/<int:pk>/answer/", candidate_blocks.CandidateAnswerView.as_view(), name="candidate-answer"),
    path("candidates/<int:pk>/decide/", candidate_blocks.CandidateDecisionView.as_view(), name="candidate-decide"),
    path("candidates/<int:pk>/withdraw/", candidate_blocks.CandidateWithdrawView.as_view(), name="candidate-withdraw"),
    path("remind/", disputes.RemindView.as_view(), name="remind"),
    path("<int:pk>/give-back/", reviews.GiveBackView.as_view(), name="give-back"),
    path("<int:pk>/re-seat/", reviews.ReseatView.as_view(), name="reseat"),
    path("<int:pk>/rounds/", disputes.RoundsOfTriple.as_view(), name="rounds"),
    path("<int:pk>/submit/", disputes.SubmitView.as_view(), name="submit"),
    path("<int:pk>/begin/", disputes.BeginView.as_view(), name="begin"),
    path("<int:pk>/re-pin/", disputes.RepinView.as_view(), name="re-pin"),
    path("<int:pk>/message/", disputes.MessageView.as_view(), name="message"),
    path("<int:pk>/withdraw-flag/", disputes.WithdrawFlagView.as_view(), name="withdraw-flag"),
    path("<int:pk>/split/", candidate_blocks.SplitView.as_view(), name="split"),
    path("<int:pk>/drop/", disputes.DropView.as_view(), name="drop"),
    path("<int:pk>/adjudicate/", disputes.AdjudicateView.as_view(), name="adjudicate"),
    path("<int:pk>/verdict/", reviews.VerdictView.as_view(), name="verdict"),
]
