/** A page as it was received. */
export interface KeptPage {
  readonly etag: string;
  readonly body: string;
  readonly link: string | null;
}

/** The pages that were used last, by URL. */
export class PageCache {
  /** In the order of their use. */
  private readonly pages = new Map<string, KeptPage>();

  /** @param size the number of pages that are kept */
  constructor(private readonly size: number) {}

  get(url: string): KeptPage | undefined {
    const page = this.pages.get(url);
    if (page) this.set(url, page);
    return page;
  }

  set(url: string, page: KeptPage): void {
    this.pages.delete(url);
    this.pages.set(url, page);
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= this.size) return;
      this.pages.delete(oldest);
    }
  }
}
