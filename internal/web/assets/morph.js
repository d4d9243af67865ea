// morph makes an element like another by changing only what differs, so that focus,
// scrolling, selections, open details and what was typed stay as they are.
//
// Elements with an id are found by it wherever they are among their siblings. The
// attribute data-keep names what the user controls: "all" of
// the element, its "value", or whether it is "pressed". It is "added" for an element that
// a script added: the other page does not have it.
export function morph(have, want) {
  attributes(have, want);
  if (have.dataset && have.dataset.keep === "all") return;
  children(have, want);
}

function attributes(have, want) {
  const keep = have.dataset && have.dataset.keep;
  if (keep === "all") return;
  for (const { name, value } of want.attributes) {
    if (name === "aria-pressed" && keep === "pressed") continue;
    if (name === "open") continue; // the user decides what is folded
    if (have.getAttribute(name) !== value) have.setAttribute(name, value);
  }
  for (const { name } of [...have.attributes]) {
    if (want.hasAttribute(name)) continue;
    if (name === "open" || name === "hidden" || name === "tabindex") continue; // set by the user or a script
    have.removeAttribute(name);
  }
}

function children(have, want) {
  const byID = new Map();
  for (const c of have.children) if (c.id) byID.set(c.id, c);
  let at = skipAdded(have.firstChild);
  for (const w of [...want.childNodes]) {
    let match = null;
    if (w.nodeType === Node.ELEMENT_NODE && w.id) {
      match = byID.get(w.id) || null;
      if (match && match.localName !== w.localName) match = null;
    } else if (at && same(at, w)) {
      match = at;
    }
    if (!match) {
      have.insertBefore(document.importNode(w, true), at);
      continue;
    }
    if (match === at) at = skipAdded(at.nextSibling);
    else move(have, match, at);
    if (match.isEqualNode(w)) continue;
    if (match.nodeType === Node.ELEMENT_NODE) morph(match, w);
    else match.nodeValue = w.nodeValue;
  }
  while (at) {
    const gone = at;
    at = skipAdded(at.nextSibling);
    have.removeChild(gone);
  }
}

// skipAdded returns the first node from here on that no script added.
function skipAdded(node) {
  while (node && node.dataset && node.dataset.keep === "added") node = node.nextSibling;
  return node;
}

// same reports whether a node without an id can be changed into another.
function same(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && !a.id;
}

// move moves a child and keeps its focus.
function move(parent, child, before) {
  if (parent.moveBefore) {
    try { parent.moveBefore(child, before); return; } catch { /* not in this document */ }
  }
  const focused = child.contains(document.activeElement) ? document.activeElement : null;
  parent.insertBefore(child, before);
  if (focused) focused.focus({ preventScroll: true });
}
