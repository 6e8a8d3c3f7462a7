import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.QueryBuilder;

/** Indexes documents and answers queries with Lucene; see bench_lucene.py, which writes and reads its files. */
public class Peer {
  static final String[] FIELDS = {"body", "heading", "title", "url"};
  static final Analyzer ANALYZER = new EnglishAnalyzer(CharArraySet.EMPTY_SET); // stems, keeps stop words

  /** Takes the file of documents, that of queries, a folder for the index, and rounds of building and asking. */
  public static void main(String[] args) throws IOException {
    List<String[]> documents = documents(Path.of(args[0]));
    Path folder = Path.of(args[2]);
    for (int round = 0; round < Integer.parseInt(args[3]); round++) {
      long before = processTime();
      build(documents, folder);
      System.out.println("build\t" + (processTime() - before) / 1e9);
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        System.out.println("file\t" + file.getFileName() + "\t" + Files.size(file));
      }
    }
    answer(Files.readAllLines(Path.of(args[1])), folder, Integer.parseInt(args[4]));
  }

  static List<String[]> documents(Path path) throws IOException {
    List<String[]> documents = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
      for (int left = in.readInt(); left > 0; left--) {
        String[] texts = new String[FIELDS.length];
        for (int field = 0; field < FIELDS.length; field++) {
          texts[field] = new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
        }
        documents.add(texts);
      }
    }
    return documents;
  }

  static void build(List<String[]> documents, Path folder) throws IOException {
    IndexWriterConfig config = new IndexWriterConfig(ANALYZER);
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
    config.setRAMBufferSizeMB(256);
    config.setMergeScheduler(new SerialMergeScheduler());
    config.setUseCompoundFile(false);
    config.getMergePolicy().setNoCFSRatio(0);
    try (IndexWriter writer = new IndexWriter(FSDirectory.open(folder), config)) {
      for (String[] texts : documents) {
        Document document = new Document();
        for (int field = 0; field < FIELDS.length; field++) {
          document.add(new Field(FIELDS[field], texts[field], TextField.TYPE_STORED));
        }
        writer.addDocument(document);
      }
      writer.commit();
    }
  }

  /** Prints the milliseconds of CPU time of each query, the best of its rounds, and its total. */
  static void answer(List<String> lines, Path folder, int rounds) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (DirectoryReader reader = DirectoryReader.open(FSDirectory.open(folder))) {
      IndexSearcher searcher = new IndexSearcher(reader);
      searcher.setQueryCache(null);
      long[] best = new long[lines.size()];
      int[] totals = new int[lines.size()];
      java.util.Arrays.fill(best, Long.MAX_VALUE);
      for (int round = 0; round <= rounds; round++) { // the first one warms up
        for (int place = 0; place < best.length; place++) {
          long before = threads.getCurrentThreadCpuTime();
          TopScoreDocCollectorManager top = new TopScoreDocCollectorManager(10, Integer.MAX_VALUE);
          TopDocs found = searcher.search(query(lines.get(place)), top);
          long taken = threads.getCurrentThreadCpuTime() - before;
          totals[place] = (int) found.totalHits.value();
          best[place] = round == 0 ? Long.MAX_VALUE : Math.min(best[place], taken);
        }
      }
      for (int place = 0; place < best.length; place++) {
        System.out.println("query\t" + best[place] / 1e6 + "\t" + totals[place]);
      }
    }
  }

  /** Returns the query of a line: its class, a tab and its words. */
  static Query query(String line) {
    String[] parts = line.split("\t");
    QueryBuilder builder = new QueryBuilder(ANALYZER);
    if (parts[0].equals("phrase")) {
      return builder.createPhraseQuery("body", parts[1]);
    }
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    for (String word : parts[1].split(" ")) {
      all.add(builder.createBooleanQuery("body", word), parts[0].equals("OR3") ? Occur.SHOULD : Occur.MUST);
    }
    return all.build();
  }

  static long processTime() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }
}
