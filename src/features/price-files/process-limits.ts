import { Worker } from 'node:worker_threads'

export interface ProcessLimits {
  /** CPU time of the whole process, in ms. */
  cpuMs: number
  /** Resident memory, in bytes: with what is outside the heap of V8, such as buffers. */
  memoryBytes: number
}

/** How often the process is measured, in ms: it can fill some gigabytes of memory in a second. */
const WATCH_MS = 20

const WATCH = `
  const { cpuMs, memoryBytes } = require('node:worker_threads').workerData
  setInterval(() => {
    const { user, system } = process.cpuUsage()
    const isOver = (user + system) / 1000 > cpuMs || process.memoryUsage.rss() > memoryBytes
    if (isOver) process.kill(process.pid, 'SIGKILL')
  }, ${WATCH_MS})`

/**
 * Kills this process as soon as it exceeds a limit. A thread of its own watches it: also while the main thread is busy or its
 * parent is gone, and on every operating system.
 */
export function limitProcess(limits: ProcessLimits): void {
  new Worker(WATCH, { eval: true, workerData: limits }).unref()
}
