import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Report } from '../../../src/features/first-contact/consent/report.ts'
import { tempDir, testEnv } from '../../support/env.ts'
import { SCOPES } from '../../support/flow.ts'
import { freePort } from '../../support/ports.ts'
import { answering, run } from '../../support/process.ts'
import { createVisitor } from '../../support/visitor.ts'
import { startSandboxFor } from './consenting.ts'

// It is a program, because it serves the app's own address until it is stopped.
test('npm run doctor -- --consent writes a report', async () => {
  const temp = tempDir()
  const port = await freePort()
  const url = `http://localhost:${port}`
  const sandbox = await startSandboxFor(url)
  const env = testEnv({ ...sandbox.env, PORT: String(port), DATA_DIR: join(temp.dir, 'data') })
  const doctor = run('src/features/first-contact/cli-doctor.ts', env, { args: ['--consent'], cwd: temp.dir })
  onTestFinished(async () => {
    await doctor.kill()
    await sandbox.close()
    temp.remove()
  })
  await answering(url, doctor)

  const visitor = createVisitor()
  const form = { email: 'marcus@ridgeline.example', password: 'sandbox' }
  await visitor.post(`${sandbox.url}/login`, { form })
  const consent = await visitor.follow(await visitor.post(`${url}/start`))
  await visitor.follow(await visitor.post(consent.url, { form: { answer: 'accept', scope: SCOPES } }))
  const checked = await visitor.follow(await visitor.post(`${url}/check`))
  expect(checked.text).toMatch(/\d+ confirmed, 0 different/)

  const report: Report = JSON.parse(readFileSync(join(temp.dir, 'doctor-report.json'), 'utf8'))
  expect(report.findings.find(({ id }) => id === 'refresh-rotation')?.status).toBe('ok')
  expect(doctor.output()).toContain('Wrote doctor-report.json.')
  expect(await doctor.kill('SIGINT')).toBe(0)
})
