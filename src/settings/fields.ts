/** Building blocks for groups of settings. Each message continues a sentence that starts with the variable's name. */
import { isIP } from 'node:net'
import * as z from 'zod'
import type { Environment } from './read.ts'

/** The most requests in a time window. */
export interface RateLimit {
  limit: number
  windowMs: number
}

export const isProduction = (env: Environment): boolean => env.NODE_ENV === 'production'

/** A required text. `hint`: where to get it. */
export const required = (hint: string) => z.string(`is required (${hint})`)

/** A client id or a client secret: visible ASCII and spaces (RFC 6749, appendices A.1 and A.2). */
export const ofClient = <T extends z.ZodType<string>>(text: T) =>
  text.refine(
    (value) => /^[\x20-\x7E]*$/.test(value),
    'has a character that no client id or secret has, such as a typographic quote or a tab: copy it again, without quotes',
  )

/** Text that matches `form`. */
export const pattern = (form: RegExp, rule: string) => z.string().regex(form, rule)

// Defaults are texts, as people type them, because `npm run docs` prints them.
export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .transform((value) => value === 'true')
    .prefault(fallback ? 'true' : 'false')

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

function numberBetween(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`
  return pattern(/^\d{1,7}$/, rule)
    .transform(Number)
    .refine((value) => value >= min && value <= max, rule)
}

/** A whole number of at most 7 digits. */
export const wholeNumber = ({ min, max, default: fallback }: { min: number; max: number; default: number }) =>
  numberBetween(min, max).prefault(String(fallback))

/** A port, or undefined if unset. */
export const optionalPort = () => numberBetween(1, 65_535).optional()

type Duration = `${number}${'s' | 'm' | 'h' | 'd'}`
const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const milliseconds = (text: string) => Number.parseInt(text, 10) * (UNIT_MS[text.slice(-1)] ?? Number.NaN)

/** A duration such as `90s`, `30m`, `6h` or `1d`, as ms. */
export function duration({ min, max }: { min: Duration; max: Duration }) {
  const rule = `must be a duration from ${min} to ${max}, such as 90s, 30m, 6h or 1d`
  return pattern(/^\d{1,6}[smhd]$/, rule)
    .transform(milliseconds)
    .refine((ms) => ms >= milliseconds(min) && ms <= milliseconds(max), rule)
}

/** Values separated by commas; an empty list if unset. */
export const list = () =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )

/** A list of at least one value. */
export const requiredList = (hint: string) =>
  list().refine((parts) => parts.length > 0, `is required (${hint})`)

/** The parts that an address may have besides its host and port. */
type AddressPart = 'a path' | 'a query' | 'a #'

interface AddressOptions {
  hint: string
  env: Environment
  parts: readonly AddressPart[]
}

/** An http or https address, used exactly as typed. In production, it must be https, except on this machine. */
export function httpAddress({ hint, env, parts }: AddressOptions) {
  return required(hint).superRefine((text, ctx) => {
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol)) return ctx.addIssue('must be an http or https address')
    const found = {
      'a user': url.username + url.password,
      'a path': url.pathname.slice(1),
      'a query': url.search,
      'a #': url.hash,
    }
    const refused = Object.entries(found).find(
      ([name, value]) => value && !parts.some((part) => part === name),
    )
    if (refused) return ctx.addIssue(`must be an address without ${refused[0]}`)
    if (isProduction(env) && url.protocol === 'http:' && !isLoopback(url))
      ctx.addIssue('must be https in production')
  })
}

/** An address to append paths to. A closing slash makes no difference. */
export const baseAddress = (options: AddressOptions) =>
  httpAddress(options).transform((text) => {
    const { origin, pathname } = new URL(text)
    return (origin + pathname).replace(/\/+$/, '')
  })

/** Pairs of origins `PUBLIC=INTERNAL`, separated by commas, as an object. */
export function originPairs(env: Environment) {
  const origin = baseAddress({ hint: '', env, parts: [] })
  const rule = 'must be pairs of addresses, PUBLIC=INTERNAL, separated by commas'
  return list()
    .transform((pairs) => pairs.map((pair) => pair.split('=').map((side) => side.trim())))
    .pipe(z.array(z.tuple([origin, origin], rule)))
    .transform((pairs): Readonly<Record<string, string>> => Object.fromEntries(pairs))
}

/** The address at which browsers reach a port of this machine, which may be a GitHub Codespace. */
export function browserUrl(env: Environment, port: string | number): string {
  const { CODESPACE_NAME: name, GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN: domain = 'app.github.dev' } = env
  return name === undefined ? `http://localhost:${port}` : `https://${name}-${port}.${domain}`
}

/** The address at which programs on this machine reach one of its ports: at `HOST`, if that is a single address. */
export function localUrl({ HOST = '::' }: Environment, port: string | number): string {
  const host = isIP(HOST) === 6 ? `[${HOST}]` : HOST
  return `http://${['[::]', '0.0.0.0'].includes(host) ? 'localhost' : host}:${port}`
}

/** Whether a secret is short, has fewer than `minDistinct` different characters, or counts up or down. */
export function isWeak(secret: string, minLength: number, minDistinct = 0): boolean {
  const codes = Array.from(secret, (character) => character.charCodeAt(0))
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0))
  return secret.length < minLength || new Set(codes).size < minDistinct || new Set(steps).size < minDistinct
}

/** Whether a secret comes from the public `.env.example`. */
export const isSandboxSecret = (secret: string): boolean => secret.startsWith('sandbox-')

export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
