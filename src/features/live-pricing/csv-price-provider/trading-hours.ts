import { DAYS, type OpeningHours, openingHoursSchema } from '../../../supplier-api/contract.ts'

/** Parses the name of a day of the week or its first three letters, ignoring case. */
export function dayOf(text: string): (typeof DAYS)[number] | undefined {
  const name = text.toLowerCase()
  return DAYS.find((day) => [day.toLowerCase(), day.slice(0, 3).toLowerCase()].includes(name))
}

/** Parses an opening period, or returns the problem with it. Accepts `7:00` for `07:00`. */
export function openingOf(opens: string, closes: string): OpeningHours | string {
  const pad = (hour: string) => (/^\d:\d\d$/.test(hour) ? `0${hour}` : hour)
  const opening = openingHoursSchema.safeParse({ opens: pad(opens), closes: pad(closes) })
  if (!opening.success) return 'opens and closes must be times such as 07:00 and 17:30'
  if (opening.data.closes <= opening.data.opens)
    return 'closes must be later than opens; split hours past midnight into two rows, one until 24:00 and one from 00:00'
  return opening.data
}

/** Inserts an opening period in chronological order. Returns false if it overlaps with another. */
export function addOpening(openings: OpeningHours[], opening: OpeningHours): boolean {
  if (openings.some(({ opens, closes }) => opening.opens < closes && opens < opening.closes)) return false
  openings.push(opening)
  openings.sort((a, b) => (a.opens < b.opens ? -1 : 1))
  return true
}
