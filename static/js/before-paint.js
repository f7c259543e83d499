// Loaded blocking in <head>: what has to be there before the first paint and the first key.
import "./theme.js";
import "./ready.js";
