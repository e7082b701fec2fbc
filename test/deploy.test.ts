import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { sandboxSettings } from '../src/runtime/run-sandbox.ts'
import { KEEP_ALIVE_MS } from '../src/runtime/serve.ts'
import { sharedApp } from './support/app.ts'

const app = await sharedApp()
const ROOT = new URL('../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8')
const settings = new Set(
  [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name),
)

interface Container {
  env: { name: string }[]
  readinessProbe: { httpGet: { path: string } }
  livenessProbe: { httpGet: { path: string } }
  lifecycle: { preStop: { sleep: { seconds: number } } }
  securityContext: { readOnlyRootFilesystem: boolean }
}
const documents = parseAllDocuments(read('docs/deploy/kubernetes.yaml')).map((document) => document.toJS())
const ofKind = (kind: string) => documents.find((document) => document.kind === kind)?.spec
const pod = ofKind('Deployment').template.spec
const container = pod.containers[0] as Container

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile')
  test('copies what exists and what .dockerignore lets through', () => {
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files = '']) =>
      files.split(' '),
    )
    const allowed = read('.dockerignore').split('\n')
    expect(sources).toEqual(['package.json', 'package-lock.json', '.npmrc', 'package.json', 'src', 'views'])
    for (const source of sources) {
      expect(existsSync(new URL(source, ROOT)), source).toBe(true)
      expect(allowed).toContain(`!${source}`)
    }
  })
  test('uses the Node version of .nvmrc and does not run as root', () => {
    expect(dockerfile.match(/^FROM node:(\d+)/gm)).toEqual(
      Array(2).fill(`FROM node:${read('.nvmrc').trim()}`),
    )
    expect(dockerfile).toMatch(/^USER node$/m)
  })
})

test('the devcontainer has the Node version of .nvmrc, and forwards the ports of the demo under their own numbers', async () => {
  const { image, forwardPorts, portsAttributes } = JSON.parse(read('.devcontainer/devcontainer.json'))
  expect(image).toMatch(new RegExp(`:${read('.nvmrc').trim()}$`))
  const { port, appUrl } = await sandboxSettings({})
  expect(forwardPorts).toEqual([Number(new URL(appUrl).port), port])
  for (const each of forwardPorts) expect(portsAttributes[each].requireLocalPort).toBe(true)
})

describe('compose.yaml', () => {
  const { services } = parse(read('compose.yaml'))
  test('sets only settings that exist, runs two processes, and nothing can write outside its folders', () => {
    for (const name of Object.keys(services.app.environment)) expect(settings).toContain(name)
    expect(services.app).toMatchObject({
      init: true,
      read_only: true,
      deploy: { replicas: 2 },
      cap_drop: ['ALL'],
    })
    expect(services.app.volumes).toEqual([services.app.environment.DATA_DIR])
  })
  test('has a Redis that persists and does not evict', () => {
    expect(services.redis.command).toContain('--appendonly yes')
    expect(services.redis.command).toContain('noeviction')
  })
})

test.each([
  ['nginx.conf', /keepalive_timeout (\d+)s/],
  ['Caddyfile', /keepalive (\d+)s/],
])('docs/deploy/%s says how long the app keeps an idle connection, and ends it before', (file, setting) => {
  const text = read(`docs/deploy/${file}`)
  const secondsOf = (pattern: RegExp) => Number(pattern.exec(text)?.[1])
  expect(secondsOf(/Below the (\d+) seconds/)).toBe(KEEP_ALIVE_MS / 1000)
  expect(secondsOf(setting)).toBeLessThan(KEEP_ALIVE_MS / 1000)
})

describe('docs/deploy/kubernetes.yaml', () => {
  test('sets only settings that exist, and runs as a user without rights', () => {
    for (const { name } of container.env) expect(settings).toContain(name)
    expect(pod).toMatchObject({ enableServiceLinks: false, securityContext: { runAsNonRoot: true } })
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true)
  })
  test('probes addresses that answer, and leaves time to stop', async () => {
    for (const probe of ['readinessProbe', 'livenessProbe'] as const)
      expect((await fetch(app.url + container[probe].httpGet.path)).status).toBe(200)
    // 52 s for requests in flight, and for the answer to a token request that one of them has sent.
    const graceSeconds = container.lifecycle.preStop.sleep.seconds + 52
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(graceSeconds)
  })
  test('has a disruption budget', () => {
    expect(ofKind('PodDisruptionBudget')).toMatchObject({
      minAvailable: 1,
      selector: ofKind('Deployment').selector,
    })
    expect(ofKind('Deployment').replicas).toBeGreaterThan(1)
  })
})
