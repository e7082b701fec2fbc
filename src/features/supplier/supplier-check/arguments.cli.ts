import { InvalidArgumentError } from 'commander'
import { createCommand } from '../../../runtime/command.ts'
import type { Known, NamedPrice } from './rule.ts'

interface Options extends Pick<Known, 'near' | 'notInRange'> {
  clientId: string
  clientSecret: string
  tokenJson: boolean
  item: NamedPrice[]
  member: NamedPrice[]
  store: string | undefined
  wait: number
  verbose: boolean
  json: boolean
}

/** Reads the arguments of the command. Exits with a message that shows a right value if one is invalid. */
export function readArguments(argv: readonly string[]): { baseUrl: string; options: Options; known: Known } {
  const command = createCommand('npm run feature -- supplier-check run', PURPOSE)
    .argument(
      '<base-url>',
      'the {supplier_base_url}, such as https://supplier.example/live-pricing',
      parseUrl,
    )
    .requiredOption('--client-id <id>', 'client id of the platform')
    .requiredOption('--client-secret <secret>', 'client secret of the platform')
    .option('--token-json', 'send token requests as JSON, not as a form', false)
    .option('--item <code=price>', 'what one unit costs, before tax; repeatable', collect(parsePrice), [])
    .option(
      '--member <number:code=price>',
      'what one unit costs a member; repeatable',
      collect(parseMember),
      [],
    )
    .option('--store <id>', 'the store of these prices; by default, one found by the search')
    .option('--not-in-range <code@store>', 'an item not sold there; repeatable', collect(parsePair), [])
    .option('--near <lat,lon>', 'a place with stores nearby; by default, several cities', parseCoordinates)
    .option('--wait <seconds>', 'how long to wait for the end of a token', parseSeconds, 10_000)
    .option('--verbose', 'show the call of every rule, not only of those that are wrong', false)
    .option('--json', 'print the findings as JSON', false)
    .parse(argv)
  const options = command.opts<Options>()
  const { item, member, store, near, notInRange, wait } = options
  const known = { prices: item, memberPrices: member, storeId: store, near, notInRange, waitMs: wait }
  return { baseUrl: String(command.processedArgs[0]), options, known }
}

const PURPOSE =
  'Tests any implementation of the live pricing API over HTTP, before the platform calls it. Exits with 0 if every rule is proven, with 1 if one is wrong, and otherwise with 2.'

/** Collects the values of an option that can be repeated. */
const collect =
  <T>(parse: (text: string) => T) =>
  (text: string, before: T[]): T[] => [...before, parse(text)]

const invalid = (right: string) => new InvalidArgumentError(`It must be ${right}.`)

function parseUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid('an http or https URL')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

function parseCoordinates(text: string) {
  const [, latitude, longitude] = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (latitude === undefined) throw invalid('LATITUDE,LONGITUDE, such as -37.81,144.96')
  return { latitude: Number(latitude), longitude: Number(longitude) }
}

/** A right price may differ by half a cent at most, from rounding, and by two percent at most. */
const [MAX_TOLERANCE, MAX_PART] = [0.005, 0.02]

/** Splits at the last `=`: a code may have one. */
function parsePrice(text: string): NamedPrice {
  const [, code, amount, decimals = ''] = /^(.+)=(\d+(?:\.(\d+))?)$/.exec(text) ?? []
  if (code === undefined) throw invalid('CODE=PRICE, in dollars before tax, such as FT-1001=5.14')
  const price = Number(amount)
  const tolerance = Math.min(0.5 * 10 ** -decimals.length, MAX_TOLERANCE, price * MAX_PART)
  return { code, price, tolerance, memberNumber: undefined }
}

/** Splits at the first `:`. */
function parseMember(text: string): NamedPrice {
  const [, memberNumber, price] = /^([^:]+):(.+=\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (price === undefined) throw invalid('NUMBER:CODE=PRICE, such as CUST1002:FT-1001=4.73')
  return { ...parsePrice(price), memberNumber }
}

/** Splits at the last `@`: a code may have one. */
function parsePair(text: string) {
  const [, itemId = '', storeId] = /^(.+)@([^@]+)$/.exec(text) ?? []
  if (storeId === undefined) throw invalid('CODE@STORE, such as MB-1002@darwin')
  return { itemId, storeId }
}

function parseSeconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw invalid('a whole number of seconds')
  return Number(text) * 1000
}
