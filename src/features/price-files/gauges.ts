import type { Gauge } from '../tools.ts'
import type { Import } from './import.ts'

type CurrentJobs = () => readonly Import[]

/** The services of this process. */
const services = new Set<CurrentJobs>()

/** Counts the jobs of a service. Returns a function that ends this. */
export function observeImports(current: CurrentJobs): () => void {
  services.add(current)
  return () => void services.delete(current)
}

/** The progress of the jobs of this process. */
export default async function importGauges(): Promise<Gauge[]> {
  const jobs = [...services].flatMap((current) => current())
  const sending = jobs.filter(({ state }) => state === 'running')
  const sum = (figure: (job: Import) => number) => sending.reduce((total, job) => total + figure(job), 0)
  return [
    {
      name: 'connect_imports',
      help: 'Price files in work, by state.',
      values: [
        { labels: { state: 'checking' }, value: jobs.length - sending.length },
        { labels: { state: 'sending' }, value: sending.length },
      ],
    },
    {
      name: 'connect_import_items',
      help: 'Items of the price files that are being sent.',
      values: [
        { labels: { state: 'sent' }, value: sum(({ progress }) => progress?.sent ?? 0) },
        { labels: { state: 'total' }, value: sum(({ validRows }) => validRows) },
      ],
    },
  ]
}
