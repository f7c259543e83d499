"""The addresses of the pages and of the API."""

from django.urls import path

from apps.review.api import bulk as bulk_api
from apps.review.api import candidate_blocks as candidate_blocks_api
from apps.review.api import disputes, reviews
from apps.review.api import elsewhere as elsewhere_api
from apps.review.pages import board, bulk, candidate_blocks, claims, elsewhere, reviewing, stale, triple

pages = [
    path("", reviewing.queue, name="queue"),
    path("next/", reviewing.next_triple, name="next"),
    path("<int:pk>/", reviewing.screen, name="screen"),
    path("<int:pk>/verdict/", reviewing.verdict, name="verdict"),
    path("<int:pk>/skip/", reviewing.skip, name="skip"),
    path("pull/", reviewing.pull, name="pull"),
    path("passages/next/", candidate_blocks.following, name="candidate-next"),
    path("passages/<int:candidate_pk>/", candidate_blocks.screen, name="candidate"),
    path("passages/<int:candidate_pk>/answer/", candidate_blocks.answer, name="candidate-answer"),
    path("passages/<int:candidate_pk>/decide/", candidate_blocks.decide, name="candidate-decide"),
    path("passages/<int:candidate_pk>/withdraw/", candidate_blocks.withdraw, name="candidate-withdraw"),
    path("board/", board.board, name="board"),
    path("board/re-seat/", board.re_seat, name="re-seat"),
    path("board/remind/", board.remind, name="remind"),
    path("board/bulk/", bulk.bulk, name="bulk"),
    path("board/bulk/do/", bulk.bulk_do, name="bulk-do"),
    path("board/bulk/steps/", bulk.bulk_steps, name="bulk-steps"),
    path("board/bulk/<int:pk>/left/", bulk.bulk_left, name="bulk-left"),
    path("board/bulk/<int:pk>/stop/", bulk.bulk_stop, name="bulk-stop"),
    path("board/bulk/<int:pk>/undo/", bulk.bulk_undo, name="bulk-undo"),
    path("stale/", stale.listing, name="stale"),
    path("stale/next/", stale.following, name="stale-next"),
    path("stale/<int:pk>/", stale.screen, name="stale-triple"),
    path("stale/<int:pk>/pin/", stale.pin, name="stale-pin"),
    path("stale/<int:pk>/retire/", stale.retire, name="stale-retire"),
    path("elsewhere/<int:pk>/take/", elsewhere.take, name="take-elsewhere"),
    path("elsewhere/<int:pk>/draw/", elsewhere.draw, name="draw-elsewhere"),
    path("triples/export/", board.export, name="export"),
    path("triples/export/file/", board.export_file, name="export-file"),
    path("triples/submit/", triple.submit, name="submit-new"),
    path("triples/<int:pk>/", triple.triple, name="triple"),
    path("triples/<int:pk>/flags/", triple.flags, name="flags"),
    path("triples/<int:pk>/submit/", triple.submit, name="submit"),
    path("triples/<int:pk>/revise/", triple.begin, name="begin"),
    path("triples/<int:pk>/re-pin/", triple.re_pin, name="re-pin"),
    path("triples/<int:pk>/message/", triple.message, name="message"),
    path("triples/<int:pk>/withdraw-flag/", triple.withdraw_flag, name="withdraw-flag"),
    path("triples/<int:pk>/split/", claims.split, name="split"),
    path("triples/<int:pk>/drop/", triple.drop, name="drop"),
    path("triples/<int:pk>/adjudicate/", triple.adjudicate, name="adjudicate"),
]

api = [
    path("queue/", reviews.QueueView.as_view(), name="queue"),
    path("next/", reviews.NextView.as_view(), name="next"),
    path("pull/", reviews.PullView.as_view(), name="pull"),
    path("board/", reviews.BoardView.as_view(), name="board"),
    path("bulk/preview/", bulk_api.BulkPreviewView.as_view(), name="bulk-preview"),
    path("bulk/", bulk_api.BulkStepsView.as_view(), name="bulk"),
    path("bulk/<int:pk>/", bulk_api.BulkStepView.as_view(), name="bulk-step"),
    path("bulk/<int:pk>/undo/", bulk_api.BulkUndoView.as_view(), name="bulk-undo"),
    path("candidates/", candidate_blocks_api.CandidateList.as_view(), name="candidates"),
    path("candidates/<int:pk>/answer/", candidate_blocks_api.CandidateAnswerView.as_view(), name="candidate-answer"),
    path("candidates/<int:pk>/decide/", candidate_blocks_api.CandidateDecisionView.as_view(), name="candidate-decide"),
    path(
        "candidates/<int:pk>/withdraw/", candidate_blocks_api.CandidateWithdrawView.as_view(), name="candidate-withdraw"
    ),
    path("elsewhere/", elsewhere_api.ElsewhereList.as_view(), name="elsewhere-sets"),
    path("elsewhere/<int:pk>/", elsewhere_api.ElsewhereView.as_view(), name="elsewhere"),
    path("elsewhere/<int:pk>/take/", elsewhere_api.TakeView.as_view(), name="take-elsewhere"),
    path("elsewhere/<int:pk>/draw/", elsewhere_api.DrawView.as_view(), name="draw-elsewhere"),
    path("remind/", disputes.RemindView.as_view(), name="remind"),
    path("<int:pk>/give-back/", reviews.GiveBackView.as_view(), name="give-back"),
    path("<int:pk>/re-seat/", reviews.ReseatView.as_view(), name="reseat"),
    path("<int:pk>/rounds/", disputes.RoundsOfTriple.as_view(), name="rounds"),
    path("<int:pk>/submit/", disputes.SubmitView.as_view(), name="submit"),
    path("<int:pk>/begin/", disputes.BeginView.as_view(), name="begin"),
    path("<int:pk>/re-pin/", disputes.RepinView.as_view(), name="re-pin"),
    path("<int:pk>/message/", disputes.MessageView.as_view(), name="message"),
    path("<int:pk>/withdraw-flag/", disputes.WithdrawFlagView.as_view(), name="withdraw-flag"),
    path("<int:pk>/split/", candidate_blocks_api.SplitView.as_view(), name="split"),
    path("<int:pk>/drop/", disputes.DropView.as_view(), name="drop"),
    path("<int:pk>/adjudicate/", disputes.AdjudicateView.as_view(), name="adjudicate"),
    path("<int:pk>/verdict/", reviews.VerdictView.as_view(), name="verdict"),
]

export_api = [
    path("", reviews.TripleExport.as_view(), name="file"),
    path("report/", reviews.TripleExportReport.as_view(), name="report"),
]
