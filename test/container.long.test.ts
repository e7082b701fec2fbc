import { execFileSync, spawn } from 'node:child_process'
import { chownSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tempDir, testEnv } from './support/env.ts'
import { freePort } from './support/ports.ts'
import { answering, programOf } from './support/process.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const instruction = (pattern: RegExp) => pattern.exec(DOCKERFILE)?.[1] ?? ''
const USER = 12_345

/** Follows the instructions of the Dockerfile in a folder, without Docker. */
function build(app: string): void {
  mkdirSync(app)
  const copies = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.*) (\S+)$/gm)]
  for (const [, sources = '', target = ''] of copies)
    for (const source of sources.split(' ')) {
      const isFolder = target !== './'
      cpSync(join(ROOT, source), join(app, isFolder ? target : source), { recursive: true })
    }
  const [program = '', ...args] = instruction(/^RUN (npm .*)$/m).split(' ')
  execFileSync(program, args, { cwd: app, stdio: 'ignore' })
}

// Only root can mount a folder read-only and become another user.
test.skipIf(process.getuid?.() !== 0)(
  'the steps of the Dockerfile, run without Docker: the app starts as a user without rights in a read-only folder, is healthy, and stops at SIGTERM',
  async () => {
    const { dir, remove } = tempDir()
    const [app, data, node] = [join(dir, 'app'), join(dir, 'data'), join(dir, 'node')]
    build(app)
    expect(existsSync(join(app, 'node_modules/vitest'))).toBe(false)
    copyFileSync(process.execPath, node)
    mkdirSync(data, { mode: 0o700 })
    execFileSync('chmod', ['-R', 'a+rX', dir])
    chownSync(data, USER, USER)

    const port = await freePort()
    const url = 'https://platform.example'
    const env = testEnv({
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: 'https://connect.example',
      PLATFORM_APP_URL: url,
      PLATFORM_AUTH_URL: url,
      PLATFORM_API_URL: url,
      OIDC_ISSUER: 'https://login.example',
      OIDC_CLIENT_ID: 'app',
      OIDC_CLIENT_SECRET: 'secret of the app',
      DATA_DIR: data,
    })
    const command = JSON.parse(instruction(/^CMD (\[.*\])$/m)) as string[]
    const script = `mount --bind "$APP" "$APP" && mount -o remount,bind,ro "$APP" && cd "$APP" &&
      exec setpriv --reuid ${USER} --regid ${USER} --clear-groups --no-new-privs "$NODE" "$@"`
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', ...command.slice(1)], {
      env: { ...env, APP: app, NODE: node, PATH: process.env.PATH ?? '' },
    })
    const program = programOf(child)
    await answering(`http://127.0.0.1:${port}/health/live`, program)

    const [status] = readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/^Uid:.*$/m) ?? []
    expect(status).toContain(String(USER))
    expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200)
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('Sign in')
    const [, ...check] = JSON.parse(instruction(/^ {2}CMD (\[.*\])$/m)) as string[]
    execFileSync(node, check, { env: { PORT: String(port) } })
    expect(() => execFileSync(node, check, { env: { PORT: '1' }, stdio: 'ignore' })).toThrow()
    expect(existsSync(join(app, 'node_modules/.cache'))).toBe(false)

    child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    expect(program.output()).toContain('listening')
    expect(program.output()).not.toMatch(/EROFS|EACCES/)
    remove()
  },
)
