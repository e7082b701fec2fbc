/** A thread that writes values until a write fails. It reports the number of acknowledged writes, and the failure. */
import { parentPort, workerData } from 'node:worker_threads'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'

const store = openSqlite({ file: workerData })
const key = (id: number) => ({ kind: 'thing', owner: 'ann', id: String(id) })
let acknowledged = 0
try {
  for (;;) {
    await store.set(key(acknowledged), 'x'.repeat(1_000))
    acknowledged++
    if (acknowledged === 30) parentPort?.postMessage('writing')
  }
} catch {
  // The file is gone.
}
const later = await Promise.allSettled([store.get(key(0)), store.set(key(acknowledged), 'later')])
await store.close()
parentPort?.postMessage({ acknowledged, later: later.map(({ status }) => status) })
