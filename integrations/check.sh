#!/bin/sh
# Runs `karat eval`, says the outcome in one comment of the pull or merge request, and ends with the code of `karat eval`.
#
#   sh check.sh github|gitlab
#
# Everything comes from environment variables, and none of them is ever run as code:
#
#   KARAT_RELEASE     an exported version, a folder or its zip; or
#   KARAT_VERSION     a version such as doors/v2, with KARAT_SERVER, KARAT_PROJECT and the secret KARAT_TOKEN
#   KARAT_GATES       the file of gates
#   KARAT_TIER        smoke, full or deep
#   KARAT_BASELINE    the run that no_worse_than compares with
#   KARAT_ARGUMENTS   more options of `karat eval`, one a line; what follows the first blank of a line is its value
#   KARAT_NAME        tells the comments of several jobs apart
#   KARAT_HOME        the folder of Karat; without it, where this file lies, else the command `karat`
#   GITHUB_TOKEN or KARAT_GITLAB_TOKEN   the secret that may write the comment
set -u

host=${1:-}
here=$(cd "$(dirname "$0")" && pwd)
home=${KARAT_HOME:-$here/..}
name=${KARAT_NAME:-gold-set}
server=${KARAT_SERVER:-}
project=${KARAT_PROJECT:-}

case $name in
  *[!A-Za-z0-9_.-]*) echo "karat: KARAT_NAME has letters, digits, dots and hyphens only." >&2; exit 2 ;;
esac
marker="<!-- karat: $name -->"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

karat() {
  if [ -f "$home/manage.py" ]; then python3 "$home/manage.py" "$@"; else command karat "$@"; fi
}

# The answer to a request is in $work/answer; printed is its status, 000 for none. The token is on no command line.
request() {
  set -- "$1" "$2" ${3:+--header} ${3:+"Content-Type: application/json"} ${3:+--data-binary} ${3:+"@$3"}
  method=$1 url=$2
  shift 2
  printf 'header = "%s"\n' "$secret" | curl --config - --silent --show-error --max-time 30 --request "$method" \
    --output "$work/answer" --write-out '%{http_code}' "$@" -- "$url" || true
}

# Read a value of a JSON file by the names that lead to it; "" where it is not there.
value_in() {
  python3 - "$@" <<'PY'
import json, sys

try:
    with open(sys.argv[1], encoding="utf-8") as stream:
        value = json.load(stream)
    for key in sys.argv[2:]:
        value = value[key]
    print("" if value is None else value)
except (OSError, ValueError, KeyError, TypeError):
    print("")
PY
}

# The id of the comment that an earlier run of this job wrote, from a page of comments; before it the length of the page.
earlier_in() {
  python3 - "$1" "$marker" "$author" <<'PY'
import json, sys

path, marker, author = sys.argv[1:]
with open(path, encoding="utf-8") as stream:
    rows = json.load(stream)
for row in rows:
    by = (row.get("user") or row.get("author") or {})
    is_ours = not author or author in (by.get("login"), by.get("username"))
    if is_ours and str(row.get("body") or "").split("\n")[0].strip() == marker:
        print(len(rows), row["id"])
        break
else:
    print(len(rows))
PY
}

evaluate() {
  release=${KARAT_RELEASE:-}
  if [ -z "$release" ]; then
    release=$work/release.zip
    karat pull "${KARAT_VERSION:-}" --server "$server" --project "$project" --out "$release" || return 3
  fi
  set -- eval "$release" --comment "$work/comment.md" --gates "${KARAT_GATES:-gates.toml}"
  [ -z "${KARAT_TIER:-}" ] || set -- "$@" --tier "$KARAT_TIER"
  [ -z "${KARAT_BASELINE:-}" ] || set -- "$@" --baseline "$KARAT_BASELINE"
  [ -z "$server" ] || set -- "$@" --server "$server" --project "$project"
  while IFS= read -r line; do
    case $line in
      '') ;;
      --*' '*) set -- "$@" "${line%% *}" "${line#* }" ;;
      *) set -- "$@" "$line" ;;
    esac
  done <<LINES
${KARAT_ARGUMENTS:-}
LINES
  karat "$@"
}

# Where comments are listed and written, and how one is changed. Empty without a pull or merge request.
find_place() {
  place='' author=''
  case $host in
    github)
      number=$(value_in "${GITHUB_EVENT_PATH:-}" pull_request number)
      secret="Authorization: Bearer ${GITHUB_TOKEN:-}" change=PATCH needs="the permission pull-requests: write"
      author=${KARAT_AUTHOR:-github-actions[bot]}
      root=${GITHUB_API_URL:-https://api.github.com}/repos/${GITHUB_REPOSITORY:-}/issues
      [ -z "$number" ] || place=$root/$number/comments
      changed=$root/comments
      ;;
    gitlab)
      number=${CI_MERGE_REQUEST_IID:-}
      secret="PRIVATE-TOKEN: ${KARAT_GITLAB_TOKEN:-}" change=PUT needs="a token with the scope api in KARAT_GITLAB_TOKEN"
      root=${CI_API_V4_URL:-}/projects/${CI_PROJECT_ID:-}/merge_requests/$number/notes
      changed=$root
      [ -z "$number" ] || place=$root
      if [ -n "$number" ] && [ "$(request GET "$CI_API_V4_URL/user")" = 200 ]; then
        author=$(value_in "$work/answer" username)
      fi
      ;;
  esac
}

# Write the comment, or change the earlier one. Fails with the status in words.
post() {
  page=1 earlier=''
  while [ $page -le 50 ]; do
    status=$(request GET "$place?per_page=100&page=$page")
    [ "$status" = 200 ] || return 1
    found=$(earlier_in "$work/answer") || return 1
    case $found in
      *' '*) earlier=${found#* }; break ;;
      100) page=$((page + 1)) ;;
      *) break ;;
    esac
  done
  python3 - "$marker" "$work/comment.md" > "$work/body.json" <<'PY'
import json, sys

with open(sys.argv[2], encoding="utf-8") as stream:
    print(json.dumps({"body": f"{sys.argv[1]}\n{stream.read()}"}))
PY
  if [ -n "$earlier" ]; then
    status=$(request $change "$changed/$earlier" "$work/body.json")
    [ "$status" != 404 ] || status=$(request POST "$place" "$work/body.json")
  else
    status=$(request POST "$place" "$work/body.json")
  fi
  [ "$status" = 200 ] || [ "$status" = 201 ]
}

code=0
evaluate || code=$?
if [ ! -f "$work/comment.md" ]; then
  echo "**Not measured:** karat eval ended with code $code. The log of the job says why." > "$work/comment.md"
fi
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$work/comment.md" >> "$GITHUB_STEP_SUMMARY"

status=none
find_place
if [ -z "$place" ]; then
  printf '\nThere is no pull request here. The comment would be:\n\n'
  cat "$work/comment.md"
elif ! post; then
  printf '\nkarat: the comment was not written: the answer was %s. Writing it needs %s. It is:\n\n' "$status" "$needs"
  cat "$work/comment.md"
fi
exit "$code"
