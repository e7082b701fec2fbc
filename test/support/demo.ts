import { expect, vi } from 'vitest'
import { texts } from '../../src/web/texts.ts'
import { tempDir } from './env.ts'
import { SCOPES } from './flow.ts'
import { around } from './pages.ts'
import { freePort } from './ports.ts'
import { answering, type Program, runProgram } from './process.ts'
import type { Visitor } from './visitor.ts'

/** `npm run demo` on free ports, with its own data folder. */
export async function openDemo(env: Record<string, string> = {}) {
  const { dir, remove } = tempDir()
  const [port, sandboxPort] = [env.PORT ?? (await freePort()), await freePort()]
  const settings: Record<string, string> = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: dir,
    ...env,
  }
  const programs: Program[] = []
  /** Starts the demo without waiting for it. */
  const spawn = () => {
    const program = runProgram('src/demo.ts', settings)
    programs.push(program)
    return program
  }
  return {
    app: `http://localhost:${port}`,
    platform: `http://localhost:${sandboxPort}`,
    dir,
    settings,
    spawn,
    /** Starts the demo and waits until it is ready, because Redis connects in the background. */
    async start(): Promise<Program> {
      const program = spawn()
      await answering(`http://localhost:${port}/health/live`, program)
      const ready = () => fetch(`http://localhost:${port}/health/ready`).then(({ ok }) => ok)
      await vi.waitFor(async () => expect(await ready()).toBe(true), { timeout: 10_000 })
      return program
    },
    async close(): Promise<void> {
      await Promise.all(programs.map((program) => program.kill()))
      remove()
    },
  }
}
export type Demo = Awaited<ReturnType<typeof openDemo>>

/** The connect flow through the demo, as a user goes through it. */
export async function connectDemo(
  visitor: Visitor,
  { app, platform }: Pick<Demo, 'app' | 'platform'>,
): Promise<void> {
  await visitor.post(`${app}/sign-in`, { form: { name: 'ann' } })
  await visitor.post(`${platform}/login`, {
    form: { email: 'marcus@ridgeline.example', password: 'sandbox' },
  })
  const consent = await visitor.follow(await visitor.post(`${app}/connect`))
  const form = { answer: 'accept', scope: SCOPES }
  const page = await visitor.follow(await visitor.post(consent.url, { form }))
  expect(page.text).toContain(around(texts.notices.connected)[1])
}
