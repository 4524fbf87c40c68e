// A scene's data and all counts from them, without drawing.

/** States of a pair in one draw, numbered as in engine/studies/scenes.py. */
export const ABSENT = 0, LINE = 1, FORTH = 2, BACK = 3, UNTESTED = 4, NOT_DRAWN = 255;

/** Counts by class (engine/graphs/links.py); ``found`` are all links found, whatever their mark.
 * @typedef {Record<string, number>} Count */
/** @typedef {{key: string, title: string, states: Uint8Array, private: boolean}} Method */
/**
 * @typedef {object} Model
 * @property {number} d @property {number[][]} pairs @property {number[]} truth
 * @property {number[]} causal @property {number[]} epsilons @property {number} draws
 * @property {number} links @property {Method[]} methods @property {Map<string, any>} known
 */

/** All pairs i < j, in the engine's order. @param {number} d @returns {number[][]} */
export function pairsOf(d) {
  const pairs = [];
  for (let i = 0; i < d; i++) for (let j = i + 1; j < d; j++) pairs.push([i, j]);
  return pairs;
}

/** Bytes behind deflated base64. @param {string} text @returns {Promise<Uint8Array>} */
export async function inflate(text) {
  const raw = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The model of a scene as the engine wrote it. @param {any} scene @returns {Promise<Model>} */
export async function read(scene) {
  const pairs = pairsOf(scene.names.length);
  const forth = new Set(scene.arrows.map(String));
  const methods = await Promise.all(scene.methods.map(async (m) => (
    {key: m.key, title: m.title, states: await inflate(m.states), private: true})));
  const free = new Uint8Array(scene.epsilons.length * scene.draws * pairs.length);
  for (let at = 0; at < free.length; at += pairs.length) free.set(scene.free, at);
  methods.unshift({key: "pc", title: scene.best, states: free, private: false});
  return {
    d: scene.names.length, pairs, truth: scene.truth, methods, epsilons: scene.epsilons,
    causal: pairs.map(([i, j]) => forth.has(`${i},${j}`) ? FORTH : forth.has(`${j},${i}`) ? BACK : ABSENT),
    draws: scene.draws, links: scene.truth.filter((t) => t !== ABSENT).length, known: new Map(),
  };
}

/** The states of one frame, one per pair. @param {Model} m @returns {Uint8Array} */
export function frame(m, key, at, draw) {
  const size = m.pairs.length, start = (at * m.draws + draw) * size;
  return m.methods.find((x) => x.key === key).states.subarray(start, start + size);
}

/** The class of a pair, as engine.graphs.metrics.classify names it. */
export function classOf(truth, causal, state) {
  if (state === UNTESTED) return "untested";
  if (truth === ABSENT) return state === ABSENT ? "none" : "false_positive";
  if (state === ABSENT) return "missed";
  if (state === truth) return "correct";
  if (state === LINE) return "undirected";
  return truth === LINE && state === causal ? "not_identifiable" : "reversed";
}

/** The counts of one frame. @param {Model} m @returns {Count} */
export function count(m, states) {
  const c = {none: 0, found: 0, correct: 0, not_identifiable: 0, undirected: 0, reversed: 0, false_positive: 0, missed: 0, untested: 0};
  for (let p = 0; p < states.length; p++) {
    c[classOf(m.truth[p], m.causal[p], states[p])]++;
  }
  c.found = c.correct + c.not_identifiable + c.undirected + c.reversed;
  return c;
}

/** Keep the result of ``make`` for each method and epsilon: a model's draws never change. */
function once(m, kind, key, at, make) {
  const name = `${kind} ${key} ${at}`;
  if (!m.known.has(name)) m.known.set(name, make());
  return m.known.get(name);
}

/** The number of draws that were run at one epsilon; they are the first ones. @param {Model} m @returns {number} */
export function ready(m, key, at) {
  return once(m, "ready", key, at, () => {
    let k = 0;
    while (k < m.draws && frame(m, key, at, k)[0] !== NOT_DRAWN) k++;
    return k;
  });
}

/** The counts of every draw at one epsilon that was run. @param {Model} m @returns {Count[]} */
export function counts(m, key, at) {
  return once(m, "counts", key, at,
    () => Array.from({length: ready(m, key, at)}, (_, k) => count(m, frame(m, key, at, k))));
}

/** The most false positives of any draw of a method, 3 at least. @param {Model} m */
export function most(m, key) {
  return once(m, "most", key, "all",
    () => Math.max(3, ...m.epsilons.flatMap((_, at) => counts(m, key, at).map((c) => c.false_positive))));
}

/** How many draws hold each state of each pair: pair * 5 + state. @param {Model} m */
function tally(m, key, at) {
  return once(m, "tally", key, at, () => {
    const sums = new Uint16Array(m.pairs.length * 5);
    for (let k = 0; k < ready(m, key, at); k++) frame(m, key, at, k).forEach((s, p) => { sums[p * 5 + s]++; });
    return sums;
  });
}

/** In how many draws a pair is linked, and in how many its arrow points forth and back. */
export function share(m, key, at, p) {
  const t = tally(m, key, at), of = ready(m, key, at);
  const [line, forth, back] = [LINE, FORTH, BACK].map((s) => t[p * 5 + s]);
  return {linked: line + forth + back, forth, back, of};
}

/** The smallest epsilon from which on at least half of the draws hold the link; null if none. */
export function drowns(m, key, p) {
  let from = null;
  for (let at = m.epsilons.length - 1; at >= 0; at--) {
    const s = share(m, key, at, p);
    if (s.of && 2 * s.linked >= s.of) from = at; else break;
  }
  return from;
}

/** The mean of one count over draws. @param {Count[]} all @param {keyof Count} name */
export function mean(all, name) {
  return all.length ? all.reduce((sum, c) => sum + c[name], 0) / all.length : NaN;
}

/** The largest share of right guesses about one person: (e^eps + delta) / (1 + e^eps), in 100, rounded up. */
export function guesses(epsilon) {
  return Math.ceil(100 / (1 + Math.exp(-epsilon)));
}

/** The place of the epsilon nearest to a typed one. @param {Model} m */
export function nearest(m, epsilon) {
  const gap = (e) => Math.abs(Math.log(e / epsilon));
  return m.epsilons.reduce((best, e, k) => gap(e) < gap(m.epsilons[best]) ? k : best, 0);
}
