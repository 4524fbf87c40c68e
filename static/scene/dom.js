// Helpers that build nodes. Text from a table never becomes markup.

/** A node with attributes (``on...`` are listeners) and children. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** The classes of links, as engine/graphs/links.py has them: word, phrases, ink, dash, width, marker.
 * @type {Record<string, any>} */
export const marks = {};

/** Pass the inks, dashes and widths of the table to the style sheet. */
export function dress(root, table) {
  Object.assign(marks, table);
  for (const [kind, mark] of Object.entries(table)) {
    for (const [name, value] of [["", mark.ink], ["-dash", mark.dash], ["-width", 1.3 * mark.width]]) {
      root.style.setProperty(`--${kind}${name}`, value);
    }
  }
}

/** The count of a class as part of a sentence. */
export function counted(kind, n, of = 0) {
  const words = marks[kind].said.replace("[s]", (of || n) === 1 ? "" : "s");
  return words.replace("{n}", n || words.includes("{of}") ? figure(n) : "no").replace("{of}", of);
}

/** A count as people write it: 7, or 6.8 for a mean. */
export function figure(x) {
  return Number.isInteger(x) ? String(x) : (Math.round(x * 10) / 10).toFixed(1).replace(/\.0$/, "");
}

const REST = 150; // milliseconds without a change before the page gets the state

/** The one way onto a Streamlit page: one ``Kind`` an element, shown again with each rerun's data.
 * ``rested``, ``yours`` and ``known`` tell the page of a state; nothing else leaves the browser.
 * @param {new (root: HTMLElement, hooks: any) => {root: HTMLElement, show: (data: any) => void}} Kind */
export function mount(Kind) {
  const shown = new WeakMap();
  return ({data, parentElement, setStateValue, setTriggerValue}) => {
    let made = shown.get(parentElement);
    if (!made) {
      const root = document.createElement("div");
      let later = 0;
      parentElement.append(root);
      made = new Kind(root, {
        // Report after the user stops: with a held key the page would receive every change and lose the last.
        rested: (state) => { clearTimeout(later); later = setTimeout(() => setStateValue("frame", state), REST); },
        yours: (state) => { clearTimeout(later); setTriggerValue("yours", state); },
        known: (state) => setStateValue("known", state),
      });
      shown.set(parentElement, made);
    }
    if (data.marks) dress(made.root, data.marks);
    made.show(data);
  };
}

/** Separates places that the page asks for (a link, Back) from its answers to the user's own moves. */
export class Asked {
  constructor() { this.at = ""; /** @type {string[]} */ this.sent = []; }

  /** Send the place where the user stopped to the page. @param {string} at */
  told(at) { this.sent = at === this.at ? [] : [...this.sent, at]; }

  /** True if the page asks for the place that it names. @param {string} at */
  other(at) {
    const own = this.sent.indexOf(at), other = at !== this.at;
    this.sent = this.sent.slice(own + 1);
    this.at = at;
    return other && own < 0;
  }
}

/** The base of every picture: its root, hooks, data, size and frames. */
export class Picture {
  /** @param {HTMLElement} root @param {{rested?: (state: any) => void, yours?: (state: any) => void, known?: (state: any) => void}} hooks */
  constructor(root, hooks = {}) {
    this.root = root;
    this.hooks = {rested: () => {}, ...hooks};
    this.asked = new Asked();
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.least = 620;  // width in CSS pixels below which parts are stacked
  }

  /** True if these data differ from those shown; they then replace them. */
  fresh(given, digest = given.digest) {
    if (digest === this.digest) return false;
    this.digest = digest;
    this.given = given;
    return true;
  }

  /** True if there is room for only one column; a class tells the style sheet. */
  fold() { return this.root.classList.toggle("narrow", this.root.clientWidth < this.least); }

  /** Call ``changed`` with every size of the root, or of a part of it. */
  watch(changed, part = this.root) {
    if (this.observer) this.observer.disconnect();
    this.observer = new ResizeObserver(changed);
    this.observer.observe(part);
  }

  /** Call ``step`` in each frame with the seconds since the last one and the time, while it returns true. */
  animate(step) {
    if (this.moving) return;
    this.moving = true;
    let last = null;
    const tick = (now) => {
      this.moving = step(last === null ? 0 : Math.min(0.1, (now - last) / 1000), now) && this.root.isConnected;
      last = now;
      if (this.moving) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  /** Dials over places, one per name, each below its value in words. @param {Record<string, string>} labels */
  rows(labels, turned) {
    this.dials = {};
    this.values = {};
    return Object.entries(labels).map(([name, label]) => {
      this.values[name] = el("b");
      this.dials[name] = range(label, {"data-name": name, onchange: () => this.rest(),
        oninput: () => { this[name] = Number(this.dials[name].value); turned(name); }});
      return el("label", {}, this.values[name], this.dials[name]);
    });
  }

  /** Set the place of a dial and its number of places. */
  stand(name, count, words) {
    this.dials[name].max = String(count - 1);
    this.dials[name].value = String(this[name]);
    this.values[name].textContent = words;
  }
}

/** A dial. */
export function range(label, attributes) {
  return el("input", {type: "range", min: 0, step: 1, class: "dial", "aria-label": label, ...attributes});
}

/** Report where a pointer goes down and moves on a node, and when it leaves. */
export function held(node, follow, left = () => {}) {
  let down = false;
  node.addEventListener("pointerdown", (e) => { node.setPointerCapture(e.pointerId); down = true; follow(e, true); });
  node.addEventListener("pointermove", (e) => { if (down) follow(e, false); });
  for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, () => { if (down) { down = false; left(); } });
}

/** Keys that move something, and the step of each. @param {Record<string, number>} steps */
export function keyed(node, steps, move) {
  node.addEventListener("keydown", (e) => { if (steps[e.key]) { move(steps[e.key]); e.preventDefault(); } });
}

/** Move points a share of their way; return the largest distance that was left. @param {number[][]} now @param {number[][]} goal */
export function ease(now, goal, share) {
  let far = 0;
  now.forEach((point, k) => [0, 1].forEach((axis) => {
    const gap = goal[k][axis] - point[axis];
    point[axis] += gap * share;
    far = Math.max(far, Math.abs(gap));
  }));
  return far;
}

/** A node of a picture, with text, inside ``parent`` if it is given. @param {string} tag @param {Record<string, any>} attributes @param {Element | null} parent @param {string} words */
export function add(tag, attributes, parent = null, words = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = words;
  if (parent) parent.append(node);
  return node;
}

/** The cleared canvas's context in CSS pixels and the theme's inks, or null while it has no size. @param {HTMLCanvasElement} canvas */
export function sheet(canvas, size = 14) {
  const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (!w || !h) return null;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const pen = canvas.getContext("2d"), style = getComputedStyle(canvas), ink = (name) => style.getPropertyValue(name).trim();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  pen.font = `${size}px ${ink("--st-font") || "sans-serif"}`;
  return {pen, w, h, ink};
}
