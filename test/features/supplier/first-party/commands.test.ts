import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serve } from '../../../support/ports.ts'
import { command } from '../../../support/process.ts'
import { type Platform, startPlatform } from './support.ts'

let platform: Platform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.close())

/** Runs a command to its end, in a folder without an `.env`. */
const ran = (script: string, env: Record<string, string>, args: string[] = []) =>
  command(script, env, { args, cwd: platform.dir })
const tenants = (env: Record<string, string> = platform.env, args?: string[]) =>
  ran('src/features/supplier/first-party/cli-tenants.ts', env, args)

describe('npm run feature -- first-party tenants', () => {
  test('lists the tenants that the API key may act for, whichever tenant is set', async () => {
    const { code, output } = await tenants({ ...platform.env, PLATFORM_TENANT_ID: 'any' })
    expect(code).toBe(0)
    expect(output).toMatch(/^\S+ {2}Summit Building Supplies\n\S+ {2}Summit Coast\n\S+ {2}Summit Ranges\n$/)
  })

  test('prints what the platform sends without what controls a terminal, one tenant on a line', async () => {
    const tenants = [{ tenantId: 'a', name: 'Summit\u001b[2J\u009b31m\u202eevil\r\nb  Forged' }]
    const other = await serve((req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(
        JSON.stringify(
          req.url?.includes('tenants') ? tenants : { accessToken: 'x', refreshToken: 'y', expiresIn: 60 },
        ),
      )
    })
    const apiUrl = `http://127.0.0.1:${other.port}`
    const { output } = await ran('src/features/supplier/first-party/cli-tenants.ts', {
      ...platform.env,
      PLATFORM_API_URL: apiUrl,
    })
    expect(output).toBe('a  Summit [2J 31m evil  b  Forged\n')
    await other.close()
  })

  test('without settings names each one that is missing, and no other', async () => {
    const { code, output } = await tenants({ DATA_DIR: platform.dir })
    expect(code).toBe(1)
    for (const name of ['API_URL', 'API_EMAIL', 'API_KEY', 'SUBSCRIPTION_KEY'])
      expect(output).toContain(`PLATFORM_${name} is required`)
    expect(output).not.toMatch(/CLIENT_ID|APP_URL|AUTH_URL/)
  })

  test('with --demo uses the running sandbox, and ignores the .env of its folder', async () => {
    writeFileSync(
      join(platform.dir, '.env'),
      'PLATFORM_API_URL=https://elsewhere.example\nREDIS_URL=nowhere\n',
    )
    const { code, output } = await tenants(
      { SANDBOX_PORT: new URL(platform.url).port, DATA_DIR: platform.dir },
      ['--demo'],
    )
    expect(output).toContain('Summit Coast')
    expect(code).toBe(0)
  })

  test('with --demo and no sandbox says how to start it', async () => {
    const { code, output } = await tenants({ SANDBOX_PORT: '1', DATA_DIR: platform.dir }, ['--demo'])
    expect(code).toBe(1)
    expect(output).toBe(
      'No sandbox answers at http://localhost:1. Start it with npm run demo. If it uses another port, set SANDBOX_PORT here too.\n',
    )
  })
})
