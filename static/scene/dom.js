// Nodes made by hand; text from a table never becomes markup.

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

/** Take the table, and give its inks, dashes and widths to the style sheet. */
export function dress(root, table) {
  Object.assign(marks, table);
  for (const [kind, mark] of Object.entries(table)) {
    for (const [name, value] of [["", mark.ink], ["-dash", mark.dash], ["-width", 1.3 * mark.width]]) {
      root.style.setProperty(`--${kind}${name}`, value);
    }
  }
}

/** A class counted, as a part of a sentence. */
export function counted(kind, n, of = 0) {
  const words = marks[kind].said.replace("[s]", (of || n) === 1 ? "" : "s");
  return words.replace("{n}", n || words.includes("{of}") ? figure(n) : "no").replace("{of}", of);
}

/** A count as people write it: 7, or 6.8 for a mean. */
export function figure(x) {
  return Number.isInteger(x) ? String(x) : (Math.round(x * 10) / 10).toFixed(1).replace(/\.0$/, "");
}

const REST = 150; // milliseconds without a change until the page is told

/** The one way onto a Streamlit page: one ``Kind`` an element, shown again with each rerun's data.
 * ``rested`` and ``yours`` tell the page of a state; nothing else leaves the browser.
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
        // Once the hand rests: of keys held down the page would hear every one, and lose the last.
        rested: (state) => { clearTimeout(later); later = setTimeout(() => setStateValue("frame", state), REST); },
        yours: (state) => { clearTimeout(later); setTriggerValue("yours", state); },
      });
      shown.set(parentElement, made);
    }
    dress(made.root, data.marks);
    made.show(data);
  };
}

/** Tells what the page asks for, as a link or Back does, from its answers to a hand that may be further by now. */
export class Asked {
  constructor() { this.at = ""; /** @type {string[]} */ this.sent = []; }

  /** The hand has come to rest at a place, and the page is told. @param {string} at */
  told(at) { this.sent = at === this.at ? [] : [...this.sent, at]; }

  /** Whether the place that the page names is one that it asks for. @param {string} at */
  other(at) {
    const own = this.sent.indexOf(at), other = at !== this.at;
    this.sent = this.sent.slice(own + 1);
    this.at = at;
    return other && own < 0;
  }
}

const SVG = "http://www.w3.org/2000/svg";

/** A node of a picture inside ``parent``. @param {string} tag @param {Record<string, any>} attributes @param {Element} parent */
export function add(tag, attributes, parent) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent.append(node);
  return node;
}

/** An empty picture. @param {Record<string, any>} attributes */
export function svgRoot(attributes = {}) {
  const node = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** The canvas's pen in CSS pixels, cleared; null while it has no size. @param {HTMLCanvasElement} canvas */
export function sheet(canvas) {
  const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (!w || !h) return null;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  return {pen, w, h};
}
