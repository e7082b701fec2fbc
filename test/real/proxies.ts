import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { CERTIFICATES } from '../support/certificates.ts'
import { tempDir } from '../support/env.ts'
import { answering, programOf } from '../support/process.ts'
import { CADDY, NGINX, withCaddy, withNginx } from './programs.ts'

interface ProxyOptions {
  /** Where it listens, with TLS. */
  port: number
  /** The ports of the two processes of the app. */
  targets: readonly [number, number]
}

interface Product {
  name: string
  skip: boolean
  /** The app's settings that its documented configuration requires. */
  settings: Record<string, string>
  /** How long it may take to notice that a process is ready again, in ms. */
  noticesWithinMs: number
  /** Resolves when it answers, to its end. */
  start(options: ProxyOptions): Promise<() => Promise<void>>
}

const documented = (file: string) =>
  readFileSync(new URL(`../../docs/deploy/${file}`, import.meta.url), 'utf8')
const NGINX_CONF = documented('nginx.conf')
const CADDYFILE = documented('Caddyfile')

export const PROXIES: Product[] = [
  {
    name: `nginx${withNginx}`,
    skip: !NGINX,
    settings: {},
    // It tries both processes for every request.
    noticesWithinMs: 0,
    start: startNginx,
  },
  {
    name: `Caddy${withCaddy}`,
    skip: !CADDY,
    settings: { SHUTDOWN_DELAY_SECONDS: /SHUTDOWN_DELAY_SECONDS=(\d+)/.exec(CADDYFILE)?.[1] ?? '' },
    noticesWithinMs: 2_000 * Number(/health_interval (\d+)s/.exec(CADDYFILE)?.[1]),
    start: startCaddy,
  },
]

/** Replaces text that must occur exactly once, so that a test fails if the documented file has changed. */
function replaceOnce(text: string, replacements: readonly [from: string, to: string][]): string {
  return replacements.reduce((result, [from, to]) => {
    if (result.split(from).length !== 2) throw new Error(`not there exactly once: ${from}`)
    return result.replace(from, () => to)
  }, text)
}

/** The nginx of this machine, with `docs/deploy/nginx.conf`, in which only the addresses and the certificate are replaced. */
function startNginx({ port, targets }: ProxyOptions) {
  const folder = proxyFolder()
  const site = replaceOnce(NGINX_CONF, [
    ['server 127.0.0.1:3001', `server 127.0.0.1:${targets[0]}`],
    ['server 127.0.0.1:3002', `server 127.0.0.1:${targets[1]}`],
    ['listen 443', `listen 127.0.0.1:${port}`],
    ['server_name connect.example.com', 'server_name localhost'],
    ['/etc/ssl/connect.example.com.pem', folder.certificate],
    ['/etc/ssl/connect.example.com.key', folder.key],
  ])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder.dir}/${name};`,
  )
  // Each worker has connections of its own to the app.
  const file = folder.write(
    'nginx.conf',
    `daemon off;
user ${userInfo().username};
worker_processes 2;
pid ${folder.dir}/nginx.pid;
events { worker_connections 768; }
http {
${temporary.join('\n')}
access_log off;
${site}
}
`,
  )
  const child = spawn(NGINX ?? 'nginx', ['-e', 'stderr', '-p', folder.dir, '-c', file])
  return started(child, port, folder.remove)
}

/** The Caddy of this machine, with `docs/deploy/Caddyfile`, in which only the addresses and the certificate are replaced. */
function startCaddy({ port, targets }: ProxyOptions) {
  const folder = proxyFolder()
  const site = replaceOnce(CADDYFILE, [
    ['127.0.0.1:3001 127.0.0.1:3002', `127.0.0.1:${targets[0]} 127.0.0.1:${targets[1]}`],
    ['\nconnect.example.com {', `\nhttps://localhost:${port} {\n\tbind 127.0.0.1`],
    ['/etc/ssl/connect.example.com.pem', folder.certificate],
    ['/etc/ssl/connect.example.com.key', folder.key],
  ])
  // Removes its other ports, which another program may use.
  const options = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
  const file = folder.write('Caddyfile', options + site)
  const child = spawn(CADDY ?? 'caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
    env: { HOME: folder.dir, XDG_DATA_HOME: folder.dir, XDG_CONFIG_HOME: folder.dir },
  })
  return started(child, port, folder.remove)
}

/** A folder with the certificate of `localhost`. */
function proxyFolder() {
  const { dir, remove } = tempDir()
  const write = (name: string, text: string) => {
    const path = join(dir, name)
    writeFileSync(path, text)
    return path
  }
  const { cert, key } = CERTIFICATES.valid
  return { dir, remove, write, certificate: write('cert.pem', cert), key: write('key.pem', key) }
}

/** Resolves when the proxy answers. Throws an error with its output if it ends before that. */
async function started(child: ChildProcess, port: number, remove: () => void) {
  // After SIGKILL, nginx's workers would keep running.
  const program = programOf(child, 'SIGTERM')
  await answering(`https://localhost:${port}/health/live`, program)
  return async () => {
    await program.kill('SIGTERM')
    remove()
  }
}
