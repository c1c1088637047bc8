// The drawing of a run: tensors as cells, and each program's loads and stores lit as one steps through.
import { brief, extent, first_step, memory_after } from "./state.js"
import { words } from "./texts.js"

const CELL = { width: 38, height: 24, label: 34 }
const NARROW = 8 // cells in a row of a vector on a phone
const GRID_LIMIT = 256 // programs of a grid that is drawn

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value)
    else if (value === true) made.setAttribute(key, "")
    else if (value !== false && value !== null) made.setAttribute(key, value)
  made.append(...children)
  return made
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

// One tensor. `show(cells)` brings it up to date.
function draw_tensor(tensor) {
  const vector = tensor.shape.length < 2
  const width = vector && matchMedia("(max-width: 44.9em)").matches ? NARROW : tensor.width
  const row_of = position => Math.floor(position / width)
  const top = row_of(tensor.first)
  const rows = tensor.end > tensor.first ? row_of(tensor.end - 1) - top + 1 : 0
  const columns = Math.max(1, Math.min(width, tensor.end - tensor.first))
  const size = { width: CELL.label + columns * CELL.width + 2, height: rows * CELL.height + 2 }
  const picture = svg("svg", { viewBox: `-1 -1 ${size.width} ${size.height}`, width: size.width, height: size.height, "aria-hidden": "true" })
  for (let row = 0; row < rows; row++) {
    const first = (top + row) * width
    picture.append(svg("text", { class: "at", x: CELL.label - 6, y: row * CELL.height + 16 }, String(vector ? first : top + row)))
  }
  const drawn = new Map()
  for (let position = tensor.first; position < tensor.end; position++) {
    const x = CELL.label + (((position % width) + width) % width) * CELL.width
    const y = (row_of(position) - top) * CELL.height
    const text = svg("text", { x: CELL.width / 2, y: 16 })
    const title = svg("title", {})
    const box = svg("rect", { x: 1, y: 1, width: CELL.width - 2, height: CELL.height - 2, rx: 2 })
    const corner = svg("path", { class: "corner", d: `M${CELL.width - 11} 1h10v10z` })
    const mark = svg("path", { class: "mark", d: `M1 ${CELL.height - 9}v8h8z` })
    const group = svg("g", { transform: `translate(${x} ${y})` }, title, box, corner, mark, text)
    drawn.set(position, { group, text, title })
    picture.append(group)
  }
  const shape = `[${tensor.shape.join(", ")}]`
  const notes = []
  if (tensor.end - tensor.first < tensor.size) notes.push(words.part(Math.max(tensor.first, 0), Math.min(tensor.end, tensor.size), tensor.size))
  if (tensor.gaps.length) notes.push(words.memory_order)
  const caption = element("figcaption", {}, element("code", {}, words.tensor(tensor.name, tensor.dtype, shape)))
  if (notes.length) caption.append(" ", element("small", {}, `(${notes.join("; ")})`))
  const show = cells => {
    for (const [position, { group, text, title }] of drawn) {
      const cell = cells.get(position)
      const css = [...cell.lit, ...["outside", "gap", "done", "never", "meeting"].filter(name => cell[name])]
      if (cell.value === null && !cell.outside && !cell.gap) css.push("blank")
      group.setAttribute("class", css.join(" "))
      text.textContent = brief(cell.value)
      title.textContent = `${tensor.name}[${position}]${cell.value === null ? "" : ` = ${cell.value}`}`
    }
  }
  return { figure: element("figure", {}, caption, element("div", { class: "scroll", tabindex: "0", role: "img", "aria-label": words.tensor(tensor.name, tensor.dtype, shape) }, picture)), show }
}

// The grid as squares; `show(program)` lights one, `choose(x, y)` is called where one is pressed.
function draw_grid(sizes, choose) {
  const [rows, columns] = sizes[1] > 1 ? sizes : [1, sizes[0]]
  if (sizes[2] > 1 || rows * columns > GRID_LIMIT || rows * columns === 0) return null
  const wrap = rows === 1 ? Math.min(columns, 16) : columns
  const lines = rows === 1 ? Math.ceil(columns / wrap) : rows
  const picture = svg("svg", { class: "grid", width: wrap * 16 + 2, height: lines * 16 + 2, viewBox: `-1 -1 ${wrap * 16 + 2} ${lines * 16 + 2}`, "aria-hidden": "true" })
  const squares = new Map()
  for (let at = 0; at < rows * columns; at++) {
    const square = svg("rect", { x: (at % wrap) * 16 + 2, y: Math.floor(at / wrap) * 16 + 2, width: 12, height: 12, rx: 2 })
    const program = rows === 1 ? [at, 0] : [Math.floor(at / columns), at % columns]
    square.addEventListener("click", () => choose(...program))
    squares.set(`${program}`, square)
    picture.append(square)
  }
  const show = program => squares.forEach((square, key) => square.classList.toggle("lit", program !== null && key === `${program.slice(0, 2)}`))
  return { picture, show }
}

function legend(trace) {
  const steps = trace.steps.flatMap(step => step.accesses)
  const outside = trace.faults.some(fault => ["past_end", "before_start", "gap"].includes(fault.kind))
  const meeting = trace.faults.some(fault => ["overlap", "race", "lanes"].includes(fault.kind))
  const wanted = {
    load: steps.some(access => access.kind === "load"),
    store: steps.some(access => access.kind !== "load"),
    done: trace.steps.length > 1,
    blank: trace.tensors.some(tensor => tensor.blank.length),
    never: trace.unwritten.length,
    outside,
    meeting,
  }
  return element("ul", { class: "legend" }, ...Object.keys(wanted).filter(name => wanted[name]).map(name => element("li", { class: name }, words.legend[name])))
}

// The drawing of a run. `on_lines(lines, faulty)` hears which lines of the source did what is lit.
export function draw(trace, on_lines) {
  const count = trace.steps.length
  const tensors = trace.tensors.map(draw_tensor)
  const box = element("section", { class: "drawing", "aria-label": words.drawing })
  if (!count) {
    const memory = memory_after(trace, 0)
    tensors.forEach((tensor, at) => tensor.show(memory[at]))
    const ran = trace.launches.some(({ grid }) => !grid.includes(0))
    box.append(element("p", {}, ran ? words.nothing_done : words.nothing_ran), ...tensors.map(tensor => tensor.figure), legend(trace))
    return box
  }
  const grids = trace.launches.map(({ grid }, launch) =>
    draw_grid(grid, (x, y) => {
      const found = trace.steps.findIndex(step => step.launch === launch && step.program[0] === x && step.program[1] === y)
      if (found >= 0) go(found + 1)
    }))
  const faulty = line => trace.faults.some(fault => fault.line === line)
  let at = first_step(trace)
  let only = null
  const slider = element("input", { type: "range", min: "0", max: String(count), "aria-label": words.step, oninput: () => go(Number(slider.value)) })
  const back = element("button", { type: "button", "aria-label": words.previous, title: words.previous, onclick: () => go(at - 1) }, "◀")
  const on = element("button", { type: "button", "aria-label": words.next, title: words.next, onclick: () => go(at + 1) }, "▶")
  const where = element("p", { class: "where", "aria-live": "polite" })
  const list = element("ol", { class: "accesses" })
  const grid_place = element("div", { class: "grids" })

  function go(step) {
    at = Math.max(0, Math.min(count, step))
    only = null
    list.replaceChildren(...(at ? trace.steps[at - 1].accesses.map(entry) : []))
    show()
  }

  function entry(access, number) {
    const { name } = trace.tensors[access.tensor]
    const button = element(
      "button",
      { type: "button", class: faulty(access.line) ? `${access.kind} fault` : access.kind, "aria-pressed": "false" },
      words.access(access.line, words.kinds[access.kind], name), " · ", words.lanes(access.lanes, access.masked),
    )
    button.addEventListener("click", () => {
      only = only === number ? null : number
      for (const each of list.querySelectorAll("button")) each.setAttribute("aria-pressed", String(only !== null && each === button))
      show()
    })
    return element("li", {}, button)
  }

  function show() {
    const step = at ? trace.steps[at - 1] : null
    const memory = memory_after(trace, at, only)
    tensors.forEach((tensor, index) => tensor.show(memory[index]))
    const launch = trace.launches[step ? step.launch : 0]
    const grid = grids[step ? step.launch : 0]
    grid_place.replaceChildren(...(grid ? [grid.picture] : []))
    grid?.show(step ? step.program : null)
    const sentence = step ? words.program(launch.kernel, extent(step.program, launch.grid), extent(launch.grid)) : words.before
    where.textContent = step ? `${sentence} · ${words.position(at, count)}` : sentence
    slider.value = String(at)
    slider.setAttribute("aria-valuetext", where.textContent)
    back.disabled = at === 0
    on.disabled = at === count
    const accesses = step ? step.accesses.filter((_, number) => only === null || only === number) : []
    const lines = new Set(accesses.map(access => access.line))
    on_lines(lines, new Set([...lines].filter(faulty)))
  }

  box.append(element("div", { class: "steps" }, back, slider, on), where, grid_place, list, ...tensors.map(tensor => tensor.figure), legend(trace))
  if (trace.left_out) box.append(element("p", {}, words.left_out(trace.left_out)))
  go(at)
  return box
}
