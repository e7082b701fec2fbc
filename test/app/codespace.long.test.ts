import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openCodespace } from '../support/codespace.ts'
import { connectDemo, type Demo, openDemo } from '../support/demo.ts'
import type { Program } from '../support/process.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

describe('the demo in a GitHub Codespace with private ports', () => {
  let codespace: Awaited<ReturnType<typeof openCodespace>>
  let demo: Demo
  let program: Program
  let visitor: Visitor
  /** As the owner's browser reaches them. */
  let at: Pick<Demo, 'app' | 'platform'>
  beforeAll(async () => {
    codespace = await openCodespace()
    demo = await openDemo(codespace.env)
    const { PORT, SANDBOX_PORT } = demo.settings
    at = { app: codespace.urlOf(PORT), platform: codespace.urlOf(SANDBOX_PORT) }
    visitor = createVisitor(codespace.fetch)
    program = await demo.start()
  })
  afterAll(async () => {
    await demo.close()
    await codespace.close()
  })

  test('prints the addresses that the browser can open', async () => {
    await vi.waitFor(() => expect(program.output()).toContain('Ctrl-C'), { timeout: 5_000 })
    expect(program.output()).toContain(at.app)
    expect(program.output()).toContain(at.platform)
  })

  test('says on every page, also of the sandbox, and in the log, that whoever reaches it can sign in', async () => {
    const { app, platform } = at
    for (const url of [app, `${app}/connections`, `${app}/nowhere`, platform, `${platform}/login`])
      expect((await visitor.get(url)).text, url).toContain('DEMO_ALLOW_REMOTE is true')
    expect(program.output()).toContain('DEMO_ALLOW_REMOTE is true')
  })

  test('connects an account, and renews its access', async () => {
    await connectDemo(visitor, at)
    expect((await visitor.post(`${at.app}/connections/ridgeline-build/refresh`)).status).toBe(303)
    const { text } = await visitor.get(`${at.app}/connections`)
    expect(text).toContain('Access to Ridgeline Build was renewed')
  })

  test.skipIf(!existsSync('src/features/flow-inspector'))('plays a scenario', async () => {
    const accept = 'application/json'
    await visitor.post(`${at.app}/demo`, { form: { name: 'Alex' } })
    const result = await visitor.post(`${at.app}/scenarios/happy-path/run`, { accept })
    expect(result.json()).toMatchObject({ asExpected: true })
  })
})
