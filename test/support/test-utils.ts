/**
 * The test utilities that the tests of a feature need. `docs/getting-started.md` shows how they use it. They start the app
 * and the sandbox, script its answers, and offer users, a browser, and a clock that a test can move.
 */
import { afterEach, vi } from 'vitest'

export { type Running, type ScriptedAnswer, startAll as startApp } from './app.ts'
export { openChromium, startWalk, takeSession } from './chromium.ts'
export { connected, connectionsOf, SCOPES, signedIn } from './flow.ts'
export { expectBothFormats, shown } from './pages.ts'
export { CHROMIUM, withChromium } from './programs.ts'
export { type Answer, createVisitor, type Visitor } from './visitor.ts'

/** The headers of a client that wants JSON instead of a page. */
export const JSON_TYPE = { accept: 'application/json' }

/**
 * Moves the clock of the app and the sandbox forward until the end of the test. The clock keeps running. Timers are unchanged, so
 * code that waits still waits as long as before. A file that uses it is named `*.serial.test.ts`, since it changes its process.
 */
export function moveClock(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true })
  vi.setSystemTime(Date.now() + seconds * 1000)
}

afterEach(() => {
  vi.useRealTimers()
})
