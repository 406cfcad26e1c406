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
    return this.pages.get(url);
  }

  /** Keeps a page that was used, be it new or not. */
  set(url: string, page: KeptPage): void {
    this.pages.delete(url);
    this.pages.set(url, page);
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= this.size) return;
      this.pages.delete(oldest);
    }
  }
}
