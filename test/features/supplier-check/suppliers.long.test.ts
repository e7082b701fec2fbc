/** Suppliers that differ in further ways, and those that use HTTP in another way than the model. */
import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  checkSupplier,
  type Finding,
  isBroken,
  isUnproven,
} from '../../../src/features/supplier-check/check-supplier.ts'
import { createProbe } from '../../../src/features/supplier-check/supplier-probe.ts'
import { CLIENT, FULL, findingsWith, type Send, startModelSupplier } from './model-supplier.ts'
import { RIGHT_OTHERWISE } from './right-otherwise.ts'
import { casesOf } from './tampers.ts'
import { WRONG_OTHERWISE } from './wrong-otherwise.ts'

const send: Send = ({ status, headers, sent }, res) => res.writeHead(status, headers).end(sent)
const withHeaders =
  (more: Record<string, string>): Send =>
  ({ headers, ...answer }, res, req) =>
    send({ ...answer, headers: { ...headers, ...more } }, res, req)
const after =
  (ms: number): Send =>
  async (answer, res, req) => {
    await wait(ms)
    send(answer, res, req)
  }
/** At most so many calls in each second. */
function limited(perSecond: number, retryAfter: () => string): Send {
  let [second, calls] = [0, 0]
  return (answer, res, req) => {
    const now = Math.floor(Date.now() / 1000)
    if (now !== second) [second, calls] = [now, 0]
    if (++calls <= perSecond) return send(answer, res, req)
    return res.writeHead(429, { 'retry-after': retryAfter() }).end()
  }
}
function oneAfterTheOther(): Send {
  let last: Promise<unknown> = Promise.resolve()
  return (answer, res, req) => {
    last = last.then(() => wait(20)).then(() => send(answer, res, req))
    return last
  }
}

const SENT: Record<string, Send> = {
  'bodies that end with the connection': ({ status, headers, sent }, res) => {
    res.useChunkedEncodingByDefault = false
    res.shouldKeepAlive = false
    res.writeHead(status, headers).end(sent)
  },
  '429 with seconds': limited(40, () => '1'),
  '429 with a date': limited(60, () => new Date(Math.ceil(Date.now() / 1000 + 0.5) * 1000).toUTCString()),
  'answers after 100 ms': after(100),
  'one call after the other': oneAfterTheOther(),
  'bodies in hundreds of chunks': async ({ status, headers, sent }, res) => {
    res.writeHead(status, headers)
    const size = Math.ceil(sent.length / 300)
    for (let at = 0; at < sent.length; at += size) {
      res.write(sent.subarray(at, at + size))
      if (at % (size * 50) === 0) await new Promise(setImmediate)
    }
    res.end()
  },
  'chunks that cut a character in two': async ({ status, headers, sent }, res) => {
    res.writeHead(status, headers)
    const cut = sent.findIndex((byte) => byte > 127) + 1
    res.write(sent.subarray(0, cut))
    await wait(2)
    res.end(sent.subarray(cut))
  },
  gzip: ({ status, headers, sent }, res, { headers: asked }) =>
    String(asked['accept-encoding'] ?? '').includes('gzip')
      ? res.writeHead(status, { ...headers, 'content-encoding': 'gzip' }).end(gzipSync(sent))
      : res.writeHead(status, headers).end(sent),
  'early hints and many headers': (answer, res, req) => {
    res.writeEarlyHints({ link: '</openapi.json>; rel=service-desc' })
    const more = Array.from({ length: 40 }, (_, index) => [`x-trace-${index}`, 'x'.repeat(100)])
    return withHeaders({ ...Object.fromEntries(more), 'set-cookie': 'lb=3; Path=/' })(answer, res, req)
  },
  'a charset in capitals and quotes': withHeaders({ 'content-type': 'Application/JSON ; Charset="UTF-8"' }),
  'a media type of a vendor': withHeaders({ 'content-type': 'application/vnd.example.v1+json' }),
  'no content type': ({ status, sent }, res) => res.writeHead(status).end(sent),
}

const SERVERS: Record<string, (server: Server) => void> = {
  'idle connections that are closed after 5 ms': (server) => {
    Object.assign(server, { keepAliveTimeout: 5, keepAliveTimeoutBuffer: 0 })
  },
  'a reset at the second call of a connection': (server) => {
    const used = new WeakSet()
    server.prependListener('request', ({ socket }) => {
      if (used.has(socket)) socket.destroy()
      used.add(socket)
    })
  },
}

/** The given rules that are broken, with why. */
const blamedOf = (findings: Finding[]) =>
  findings
    .filter((finding) => isBroken(finding, true))
    .map(({ rule, reason, call }) => [rule.id, reason, call?.answer])

async function blamed(sendBy: Send, change: (server: Server) => void = () => {}) {
  const { server, url, close } = await startModelSupplier(() => {}, sendBy)
  change(server)
  const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret }
  // Several suppliers share this process, which may be busy.
  const probe = createProbe({ baseUrl: url, ...client, timeoutMs: 120_000 })
  const findings = await Array.fromAsync(checkSupplier({ ...FULL, probe }))
  await close()
  return blamedOf(findings)
}

test.concurrent.each(Object.entries(SENT))('%s: not blamed', async (_, sendBy) => {
  expect(await blamed(sendBy)).toEqual([])
})

test.concurrent.each(Object.entries(SERVERS))('%s: not blamed', async (_, change) => {
  expect(await blamed(send, change)).toEqual([])
})

test.concurrent.each(casesOf(RIGHT_OTHERWISE))('$name: not blamed', async (told) => {
  expect(blamedOf(await findingsWith(told.tamper, told))).toEqual([])
})

test.each([{}, { tokenJson: true }])('of the model, all given rules are proven (%o)', async (told) => {
  const findings = await findingsWith(() => {}, told)
  expect(findings.filter((finding) => isBroken(finding) || isUnproven(finding))).toEqual([])
})

test.concurrent.each(casesOf(WRONG_OTHERWISE))('a supplier does not pass of which $name', async (told) => {
  const findings = await findingsWith(told.tamper, told)
  const given = findings.filter((finding) => isBroken(finding, true) || isUnproven(finding))
  expect(given.map(({ rule }) => rule.id)).not.toEqual([])
})
