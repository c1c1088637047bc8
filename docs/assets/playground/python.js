// The page's side of the worker. One worker serves every playground of the visit; it starts with the first Run.
import { lock, play, pyodide, size } from "./addresses.js"

const root = new URL("../../", import.meta.url) // of the site
let worker
let ready
let last = 0
const waiting = new Map() // id -> { resolve, reject }

export class Canceled extends Error {}

function send(task, values) {
  last += 1
  const id = last
  worker.postMessage({ id, task, ...values })
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
}

function start(on_progress) {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" })
  worker.onmessage = ({ data }) => {
    if ("loaded" in data) return on_progress(Math.min(1, data.loaded / size))
    if ("failed" in data) return end(new Error(data.failed))
    waiting.get(data.id).resolve(data.answer)
    waiting.delete(data.id)
  }
  worker.onerror = event => end(new Error(event.message ?? "worker"))
  return send("load", { play: new URL(play, root).href, pyodide: new URL(pyodide, root).href, lock })
}

function stop() {
  worker?.terminate()
  worker = ready = undefined
}

function end(error) {
  stop()
  for (const { reject } of waiting.values()) reject(error)
  waiting.clear()
}

// End whatever runs. The next task starts another worker, from files that the browser has.
export function cancel() {
  end(new Canceled())
}

// Have Python do `task`; its answer, parsed. `on_progress` is called with 0 to 1 as long as files come in, `on_start` when
// Python is there.
export async function ask(task, values, on_progress, on_start) {
  ready ??= start(on_progress)
  await ready
  on_start()
  return JSON.parse(await send(task, values))
}

// The data of an exercise, as the build wrote it: text that goes on to Python unread.
export async function exercise_text(name) {
  const response = await fetch(new URL(`assets/exercises/${name}.json`, root))
  if (!response.ok) throw new Error(`${response.status} ${name}`)
  return response.text()
}
