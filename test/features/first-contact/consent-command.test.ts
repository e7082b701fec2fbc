import { readFileSync, writeFileSync } from 'node:fs'
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

test('npm run doctor -- --consent writes a report, from which npm run sandbox answers', async () => {
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
  expect(report.recording.refresh).toEqual({ refreshToken: 'same' })
  expect(readFileSync(join(temp.dir, 'doctor-report.md'), 'utf8')).toContain('## Confirmed')
  expect(doctor.output()).toContain('Wrote doctor-report.md and doctor-report.json.')
  expect(await doctor.kill('SIGINT')).toBe(0)

  await sandbox.kill('SIGTERM')
  // A detail of another platform, to see that the sandbox answers from the report.
  const recording = { ...report.recording, invalidToken: { status: 401, error: 'unauthorized' } }
  writeFileSync(join(temp.dir, 'doctor-report.json'), JSON.stringify({ ...report, recording }))
  const again = start('src/cli/sandbox.ts', env, '--as', 'doctor-report.json')
  await answering(env.PLATFORM_APP_URL, again)
  expect(again.output()).toContain('answers as recorded in doctor-report.json')
  const refused = await fetch(`${env.PLATFORM_API_URL}/catalogues`)
  expect([refused.status, await refused.json()]).toEqual([401, { error: 'unauthorized' }])
})

test('npm run doctor -- --consent refuses --json, before anybody gives consent', async () => {
  const program = start('src/features/first-contact/cli-doctor.ts', {}, '--consent', '--json')
  expect(await program.exited).toBe(1)
  expect(program.output()).toMatch(/^--json: /)
})

test('npm run sandbox names a report that it cannot use', async () => {
  writeFileSync(join(temp.dir, 'report.json'), '{}')
  const program = start('src/cli/sandbox.ts', {}, '--as', 'report.json')
  expect(await program.exited).toBe(1)
  expect(program.output()).toContain('report.json has no recording of how a platform answers')
})
