import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Report } from '../../../src/features/first-contact/consent/report.ts'
import { tempDir } from '../../support/env.ts'
import { SCOPES } from '../../support/flow.ts'
import { freePort } from '../../support/ports.ts'
import { answering, type Program, run } from '../../support/process.ts'
import { createVisitor } from '../../support/visitor.ts'

let temp: ReturnType<typeof tempDir>
const programs: Program[] = []
beforeEach(() => {
  temp = tempDir()
})
afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.kill()))
  temp.remove()
})

function start(script: string, env: Record<string, string>, ...args: string[]): Program {
  const program = run(script, env, { args, cwd: temp.dir })
  programs.push(program)
  return program
}

test('npm run doctor -- --consent writes a report', async () => {
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const env = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: join(temp.dir, 'data'),
    PLATFORM_APP_URL: `http://localhost:${sandboxPort}`,
    PLATFORM_AUTH_URL: `http://localhost:${sandboxPort}/auth`,
    PLATFORM_API_URL: `http://localhost:${sandboxPort}/api`,
    PLATFORM_CLIENT_ID: 'sandbox-client',
    PLATFORM_CLIENT_SECRET: 'sandbox-client-secret',
  }
  const sandbox = start('src/cli/sandbox.ts', env)
  const doctor = start('src/features/first-contact/cli-doctor.ts', env, '--consent')
  await answering(env.PLATFORM_APP_URL, sandbox)
  await answering(`http://localhost:${port}`, doctor)

  const visitor = createVisitor()
  const form = { email: 'marcus@ridgeline.example', password: 'sandbox' }
  await visitor.post(`${env.PLATFORM_APP_URL}/login`, { form })
  const consent = await visitor.follow(await visitor.post(`http://localhost:${port}/start`))
  const accepted = { answer: 'accept', scope: SCOPES }
  await visitor.follow(await visitor.post(consent.url, { form: accepted }))
  const checked = await visitor.follow(await visitor.post(`http://localhost:${port}/check`))
  expect(checked.text).toMatch(/\d+ confirmed, 0 different/)

  const report: Report = JSON.parse(readFileSync(join(temp.dir, 'doctor-report.json'), 'utf8'))
  expect(report.findings.find(({ id }) => id === 'refresh-rotation')?.status).toBe('ok')
  expect(doctor.output()).toContain('Wrote doctor-report.json.')
  expect(await doctor.kill('SIGINT')).toBe(0)
})

test('npm run doctor -- --consent refuses --json, before anybody gives consent', async () => {
  const program = start('src/features/first-contact/cli-doctor.ts', {}, '--consent', '--json')
  expect(await program.exited).toBe(1)
  expect(program.output()).toMatch(/^--json: /)
})
