// What the reader has written and solved, in this browser alone: { name: { text?, solved? } }. Where the browser keeps
// nothing (a private window, a setting), all of it lasts as long as the page.
const KEY = "triton-by-proof.exercises"
let kept = {}

function read() {
  try {
    return tidy(JSON.parse(localStorage.getItem(KEY) ?? "{}"))
  } catch {
    return kept
  }
}

function write(all) {
  kept = all
  try {
    localStorage.setItem(KEY, JSON.stringify(all))
  } catch {
    // full, or not allowed
  }
}

// Only what this page would have written, whatever a file holds.
function tidy(all) {
  if (typeof all !== "object" || all === null || Array.isArray(all)) throw new TypeError("no answers")
  const found = {}
  for (const [name, entry] of Object.entries(all)) {
    if (!/^\d\d_\w+$/.test(name) || typeof entry !== "object" || entry === null) continue
    found[name] = {}
    if (typeof entry.text === "string") found[name].text = entry.text
    if (entry.solved === true) found[name].solved = true
  }
  return found
}

export const entry = name => read()[name] ?? {}

export function keep(name, changes) {
  const all = read()
  write({ ...all, [name]: { ...all[name], ...changes } })
}

export function forget_text(name) {
  const all = read()
  if (all[name]) delete all[name].text
  write(all)
}

export const everything = () => JSON.stringify({ exercises: read() }, null, 1)

// Take in what `everything` gave, here or elsewhere. Raises where the text is something else. Returns how many entries.
export function take_in(text) {
  const found = tidy(JSON.parse(text).exercises)
  write({ ...read(), ...found })
  return Object.keys(found).length
}
