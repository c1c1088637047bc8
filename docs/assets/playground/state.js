// What memory looks like after a number of steps, from the trace of a run. No DOM here.

// [[first, step, count], …] as positions.
export const expand = stretches =>
  stretches.flatMap(([first, step, count]) => Array.from({ length: count }, (_, at) => first + step * at))

const MEETINGS = ["overlap", "race", "lanes"]

// One tensor before anything ran: a cell for each position of its window.
function untouched(tensor) {
  const blank = new Set(expand(tensor.blank))
  const gaps = new Set(expand(tensor.gaps))
  const cells = new Map()
  for (let position = tensor.first; position < tensor.end; position++) {
    const outside = position < 0 || position >= tensor.size
    const empty = outside || gaps.has(position) || blank.has(position)
    const value = empty ? null : tensor.initial[position - Math.max(tensor.first, 0)]
    cells.set(position, { value, outside, gap: gaps.has(position), lit: [], done: false, never: false, meeting: false })
  }
  return cells
}

// The cells of each tensor after `at` steps; what the last of them did is lit, or only its access number `only`.
export function memory_after(trace, at, only = null) {
  const memory = trace.tensors.map(untouched)
  trace.steps.slice(0, at).forEach((step, index) => {
    const current = index === at - 1
    step.accesses.forEach((access, number) => {
      const cells = memory[access.tensor]
      expand(access.cells).forEach((position, lane) => {
        const cell = cells.get(position)
        if (access.values && !cell.outside) cell.value = access.values[lane]
        if (access.values && !current) cell.done = true
        if (current && (only === null || only === number) && !cell.lit.includes(access.kind)) cell.lit.push(access.kind)
      })
    })
  })
  for (const fault of at ? trace.faults : [])
    if (MEETINGS.includes(fault.kind)) for (const position of expand(fault.cells)) memory[fault.tensor].get(position).meeting = true
  if (at === trace.steps.length)
    trace.tensors.forEach((tensor, index) => {
      for (const position of is_output(trace, index) ? expand(tensor.unwritten) : []) memory[index].get(position).never = true
    })
  return memory
}

// Whether a tensor without all its values is one that programs were to fill.
const is_output = (trace, index) => trace.tensors[index].unwritten.length > 0

// Where to begin: at the first program that did something wrong, else at the end if something is missing, else at the first.
export function first_step(trace) {
  const count = trace.steps.length
  const fault = trace.faults[0]
  if (fault) {
    const found = trace.steps.findIndex(step => `${step.program}` === `${fault.programs[0]}` && step.accesses.some(each => each.line === fault.line))
    if (found >= 0) return found + 1
  }
  if (trace.unwritten.length) return count
  return Math.min(1, count)
}

// [3, 1, 1] -> "(3)", [3, 2, 1] -> "(3, 2)"
export function extent(triple, sizes = triple) {
  const axes = sizes.findLastIndex(size => size > 1) + 1
  return `(${triple.slice(0, Math.max(1, axes)).join(", ")})`
}

const ROOM = 5 // characters in a cell

// A number in a narrow cell: as many digits as there is room for.
export function brief(value) {
  if (value === null) return ""
  if (String(value).length <= ROOM || Number.isNaN(Number(value))) return String(value)
  const number = Number(value)
  const candidates = [3, 2, 1].map(digits => String(Number(number.toPrecision(digits))))
  const fitting = Number.isInteger(number) ? undefined : candidates.find(text => text.length <= ROOM)
  return fitting ?? number.toExponential(0).replace("+", "")
}
