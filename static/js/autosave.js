// Saves a form in the background as its button would: a little after the last change, when a field is left, and when
// the page is hidden. One request at a time. What was sent and not answered is sent again as it was, because it may
// have arrived; the server takes the same save twice for one. What is not known to be saved when the page goes stays
// with this tab, and is there again when the page is.

const PAUSE = 2500;
const AGAIN = 5000;
const MOST_KEPT_ALIVE = 60_000;
const BROUGHT_BACK = 1000;
const TOKEN = "csrfmiddlewaretoken";
const APART = new Set([TOKEN, "seen_version"]);
const OF_THE_PAGE = new Set([...APART, "key", "query", "corpus"]);

/** The fields as the page came: words typed before this ran are changes like any other. */
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
 * `onResult` hears one of {saved}, {lost}, {wrong}, {conflict} and {closed}; after the last two nothing is sent any more.
 * `isBlank` says of a form that was never saved that there is nothing in it, `keptAs` the name under which this tab
 * keeps what it did not save.
 */
export function autosave(form, { isBlank, onResult, keptAs }) {
  // A field without words is none: the server draws some while one writes, such as what to say to a warning.
  const heldIn = (fields) => new URLSearchParams([...without(fields, APART)].filter(([, words]) => words !== "")).toString();
  const held = () => heldIn(new FormData(form));
  const start = heldIn(asDrawn(form));
  let kept = start;
  let refused = null;
  let unanswered = null;
  let running = null;
  let timer = 0;
  let isOver = false;

  const isUnsaved = () => unanswered !== null || (held() !== kept && !(kept === start && isBlank()));

  /** The form says whether everything in it is saved. */
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
    if (answer.status === 204) kept = sent.held;
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
    kept = sent.held;
    refused = null;
    form.elements.namedItem("seen_version").value = saved.version;
    onResult({ saved });
  }

  async function stop(answer) {
    isOver = true;
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    onResult(isJson ? { conflict: (await answer.json()).problem } : { closed: answer.type === "opaqueredirect" ? 0 : answer.status });
  }

  /** The form is being sent as a whole: nothing more goes behind its back. */
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
      // There is no room: the save that was just sent has to do.
    }
  }

  /**
   * The fields as this tab left them, when the page was drawn without some of it; else null. Whoever asks puts them
   * back. What was sent then is sent again first, as it was: whether it arrived since decides the server.
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
