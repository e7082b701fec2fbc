import type { ChildProcess } from 'node:child_process'

/** The processes that run for the tests of a file, and the signal that ends each. */
const children = new Map<ChildProcess, NodeJS.Signals>()

/** Ends a process at the end of its test file at the latest, because a failing test may leave it running. */
export function endsWithFile<C extends ChildProcess>(child: C, signal: NodeJS.Signals = 'SIGKILL'): C {
  children.set(child, signal)
  child.once('exit', () => children.delete(child))
  return child
}

/** Ends the processes that the tests of a file have left running. */
export function endChildren(): void {
  for (const [child, signal] of children) child.kill(signal)
}
