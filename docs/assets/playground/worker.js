// Python in a thread of its own: Pyodide's core and the modules of play.json. The first message says where they are. Every
// message is answered once, `{ id, answer }` or `{ id, failed }`; while files come in there is `{ loaded }`, in bytes.
let page // the module in_page

// Pyodide waits forever for a file that cannot be had, so each failure is answered here. What is counted is a copy, so
// that Pyodide gets the response itself.
function watch_fetch(id) {
  const fetch_whole = self.fetch
  let loaded = 0
  async function count(reader) {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      loaded += part.value.byteLength
      postMessage({ loaded })
    }
  }
  const fail = error => postMessage({ id, failed: String(error) })
  self.fetch = async (...request) => {
    try {
      const response = await fetch_whole(...request)
      if (!response.ok) throw new Error(`${response.status} ${response.url}`)
      count(response.clone().body.getReader()).catch(fail)
      return response
    } catch (error) {
      fail(error)
      throw error
    }
  }
}

const EMPTY = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) // a WebAssembly module without content

async function load({ id, pyodide, play, lock }) {
  await WebAssembly.compile(EMPTY) // fails at once where a policy forbids it, which Pyodide would not
  watch_fetch(id)
  const [{ loadPyodide }, files] = await Promise.all([
    import(`${pyodide}pyodide.mjs`),
    fetch(play).then(response => response.json()),
  ])
  const python = await loadPyodide({
    indexURL: pyodide,
    packageBaseUrl: pyodide, // nothing is ever asked of another host
    lockFileContents: lock,
  })
  for (const [name, text] of Object.entries(files)) {
    const path = `/play/${name}`
    python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")))
    python.FS.writeFile(path, text)
  }
  python.runPython("import sys; sys.path.insert(0, '/play')")
  page = python.pyimport("in_page")
}

const tasks = {
  load,
  run_snippet: ({ source }) => page.run_snippet(source),
  run_exercise: ({ exercise, source, choice }) => page.run_exercise(exercise, source, choice),
  check_exercise: ({ exercise, source }) => page.check_exercise(exercise, source),
}

self.addEventListener("message", async ({ data }) => {
  try {
    postMessage({ id: data.id, answer: (await tasks[data.task](data)) ?? null })
  } catch (error) {
    postMessage({ id: data.id, failed: String(error) })
  }
})
