// Saves a form in the background as its button would: shortly after the last change, when a field loses the focus, and
// when the page is hidden. One request at a time. A request without an answer is sent again unchanged, because it may
// have arrived; the server treats the same save twice as one. Changes that may be unsaved when the page closes are
// stored for this tab, and restored when the page is loaded again.

const PAUSE = 2500;
const AGAIN = 5000;
const MOST_KEPT_ALIVE = 60_000;
const BROUGHT_BACK = 1000;
const TOKEN = "csrfmiddlewaretoken";
const APART = new Set([TOKEN, "seen_version"]);
const OF_THE_PAGE = new Set([...APART, "key", "query", "corpus"]);

/** The fields as the page delivered them: words typed before this script ran count as changes. */
function asDrawn(form) {
  const fields = new FormData(form);
  for (const field of form.elements) {
    const isWords = field.matches("textarea, input:not([type=hidden], [type=checkbox], [type=radio])");
    if (isWords && fields.has(field.name)) fields.set(field.name, field.defaultValue);
  }
  return fields;
}

const without = (fields, names) => new URLSearchParams([...fields].filter(([name]) => !names.has(name)));

/**
 * `onResult` is called with one of {saved}, {lost}, {wrong}, {conflict} and
 * {closed}; after the last two nothing is sent any more.
 * `isBlank` tells whether a form that was never saved is empty; `keptAs` is the name under which this tab stores unsaved
 * changes.
 */
export function autosave(form, { isBlank, onResult, keptAs }) {
  // An empty field counts as absent: the server adds some while one writes, such as the answer to a warning.
  const heldIn = (fields) => new URLSearchParams([...without(fields, APART)].filter(([, words]) => words !== "")).toString();
  const held = () => heldIn(new FormData(form));
  const start = heldIn(asDrawn(form));
  let lastSaved = start;
  let refused = null;
  let unanswered = null;
  let running = null;
  let timer = 0;
  let isOver = false;

  const isUnsaved = () => unanswered !== null || (held() !== lastSaved && !(lastSaved === start && isBlank()));

  /** Shows on the form whether everything in it is saved. */
  function announce() {
    form.dataset.holds = isUnsaved() ? "unsaved" : "saved";
  }

  function soon(wait = PAUSE) {
    announce();
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(save, wait);
  }

  function save() {
    clearTimeout(timer);
    if (isOver || running || !isUnsaved() || held() === refused) return running;
    running = send(unanswered ?? { body: new URLSearchParams(new FormData(form)), held: held() }).finally(() => {
      running = null;
    });
    return running;
  }

  async function send(sent) {
    unanswered = sent;
    const answer = await post(sent.body);
    if (answer === null || answer.status >= 500 || answer.status === 429) {
      onResult({ lost: answer ? "server" : "connection" });
      soon(AGAIN);
      return;
    }
    unanswered = null;
    sessionStorage.removeItem(keptAs());
    if (answer.status === 204) lastSaved = sent.held;
    else if (answer.ok) took(await answer.json(), sent);
    else if (answer.status === 400) {
      refused = sent.held;
      onResult({ wrong: (await answer.json()).problem });
    } else await stop(answer);
    announce();
    if (isUnsaved() && held() !== refused) soon();
  }

  async function post(body) {
    const headers = { "X-CSRFToken": body.get("csrfmiddlewaretoken") };
    const keepalive = document.hidden && body.toString().length < MOST_KEPT_ALIVE;
    try {
      return await fetch(form.dataset.autosave, { method: "POST", body, headers, redirect: "manual", keepalive });
    } catch {
      return null;
    }
  }

  function took(saved, sent) {
    lastSaved = sent.held;
    refused = null;
    form.elements.namedItem("seen_version").value = saved.version;
    onResult({ saved });
  }

  async function stop(answer) {
    isOver = true;
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    onResult(isJson ? { conflict: (await answer.json()).problem } : { closed: answer.type === "opaqueredirect" ? 0 : answer.status });
  }

  /** The form is being submitted: no more saving in the background. */
  function end() {
    clearTimeout(timer);
    isOver = true;
  }

  function remember() {
    sessionStorage.removeItem(keptAs());
    if (isOver || !isUnsaved()) return;
    const plain = (fields) => without(fields, new Set([TOKEN])).toString();
    const note = { now: plain(new FormData(form)), sent: unanswered && plain(unanswered.body) };
    try {
      sessionStorage.setItem(keptAs(), JSON.stringify(note));
    } catch {
      // The storage is full: rely on the save that was just sent.
    }
  }

  /**
   * The fields as this tab stored them, if the page lacks some of it; else null. The caller restores them. The last
   * request is first sent again unchanged: the server decides whether it had arrived.
   */
  function left() {
    const note = JSON.parse(sessionStorage.getItem(keptAs()));
    sessionStorage.removeItem(keptAs());
    if (note === null) return null;
    const words = (fields) => without(fields, OF_THE_PAGE).toString();
    const drawn = words(new FormData(form));
    const [now, sent] = [note.now, note.sent ?? note.now].map((fields) => new URLSearchParams(fields));
    if (words(now) === drawn && words(sent) === drawn) return null;
    if (note.sent !== null) {
      sent.set(TOKEN, form.elements.namedItem(TOKEN).value);
      unanswered = { body: sent, held: heldIn(sent) };
    }
    soon(BROUGHT_BACK);
    return now;
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    save();
    remember();
  });
  addEventListener("online", () => unanswered && save());
  announce();
  form.addEventListener("focusout", () => soon(0));
  return { soon, save, isUnsaved, idle: () => running, end, left };
}
